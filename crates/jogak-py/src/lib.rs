//! The Python face of the core: translation only, no decisions about tokenization.

mod ahead;
mod arrow;
mod counts;
mod decoders;
mod errors;
mod files;
mod following;
mod ids;
mod inputs;
mod integers;
mod lists;
mod models;
mod normalizers;
mod numbers;
mod pieces;
mod schemes;
mod sections;
mod strings;
mod surfaces;
mod texts;
mod tokenizer;
mod train;
mod vocabulary;

use pyo3::prelude::*;

/// Python gives objects memory that is aligned to two words, whatever their type asks for: a vector in one would be read from where it
/// must not be.
macro_rules! fit_into_objects {
    ($($object:ty),*) => {
        $(const _: () = assert!(align_of::<$object>() <= 2 * size_of::<usize>());)*
    };
}

fit_into_objects!(
    counts::Counts,
    counts::Cursor,
    decoders::PyStream,
    files::PyDocuments,
    following::PyFollowing,
    inputs::PyColumns,
    inputs::PyForm,
    lists::PyIntegers,
    normalizers::PyNormalizer,
    pieces::PyAddedTokens,
    pieces::PyIds,
    pieces::PyMerges,
    pieces::PyPairs,
    pieces::PyPieces,
    surfaces::PyCounted,
    surfaces::PyCut,
    surfaces::PySurfaces,
    texts::PyChosen,
    tokenizer::PyTokenizer
);

/// The native module `jogak._core`. It needs no global lock: what changes belongs to one call, or has a
/// lock of its own.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::ahead::read_ahead;
    #[pymodule_export]
    use crate::arrow::arrow_list;
    #[pymodule_export]
    use crate::counts::{Counts, Cursor, count_documents, count_sources};
    #[pymodule_export]
    use crate::decoders::{PyStream, reads_in_place};
    #[pymodule_export]
    use crate::files::PyDocuments;
    #[pymodule_export]
    use crate::following::PyFollowing;
    #[pymodule_export]
    use crate::inputs::{PyColumns, PyForm, make_inputs};
    #[pymodule_export]
    use crate::integers::{id_lines, id_lists};
    #[pymodule_export]
    use crate::lists::{PyIntegers, read_lists};
    #[pymodule_export]
    use crate::normalizers::{
        PyNormalizer, charsmap_rules, compile_charsmap, named_charsmap, parse_rule_tsv, pretokenize,
    };
    #[pymodule_export]
    use crate::pieces::{PyAddedTokens, PyIds, PyMerges, PyPairs, PyPieces};
    #[pymodule_export]
    use crate::sections::{
        pieces_of_ranks, read_lines, read_merges, read_model_pieces, read_rank_table, read_ranks,
        read_sections, read_vocab, sha256,
    };
    #[pymodule_export]
    use crate::surfaces::{PyCounted, PyCut, PySurfaces};
    #[pymodule_export]
    use crate::texts::{PyChosen, are_texts};
    #[pymodule_export]
    use crate::tokenizer::PyTokenizer;
    #[pymodule_export]
    use crate::train::{train_bpe, train_unigram, train_wordpiece};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
