//! Corpora: from names of files to documents, and their words counted on all cores.
