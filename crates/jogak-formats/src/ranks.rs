//! The lines of a `.tiktoken` file: base64, one space, the rank.

use jogak::beside::both;
use jogak::vocab::Vocab;

/// The pieces of a rank file; the id is the rank.
///
/// None for a line that is anything else, a piece or a rank that stands twice, ranks far apart, or one of
/// the 256 bytes that is no piece. (An empty piece is written in a way that base64 has not, and left to others.)
///
/// ```
/// assert!(jogak_formats::ranks::read(b"IQ== 0\n").is_none()); // not all bytes
/// ```
pub fn read(data: &[u8]) -> Option<Vocab> {
    // All pieces are different, so these are all bytes.
    Ranks::read(data).filter(|ranks| ranks.bytes == 256)?.into_pieces()
}

/// Fewer bytes than these are not worth a thread.
const WORTH: usize = 1 << 16;

/// Pieces and their ranks, in the order in which they came.
///
/// ```
/// use jogak_formats::ranks::Ranks;
///
/// let ranks = Ranks::read(b"bG93 1\nIQ== 0\n").ok_or("other lines")?;
/// assert!(ranks.iter().eq([(&b"low"[..], 1), (b"!", 0)]));
/// assert_eq!(ranks.into_pieces().ok_or("ranks twice")?.piece(1), Some(&b"low"[..]));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Default)]
pub struct Ranks {
    /// The pieces, one behind the other.
    pieces: Vec<u8>,
    /// The rank of each, and where it ends.
    texts: Vec<(u32, usize)>,
    /// How many of them are one byte.
    bytes: usize,
}

impl Ranks {
    /// Those of the lines of a rank file, whatever they are; None for a line that is anything but base64, one space and a
    /// rank.
    pub fn read(data: &[u8]) -> Option<Self> {
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        let middle = memchr::memchr(b'\n', &data[data.len() / 2..]).filter(|_| data.len() >= WORTH);
        match middle.map(|at| data.split_at(data.len() / 2 + at)) {
            Some((one, other)) => {
                let (one, other) = both(true, || lines(one), || lines(&other[1..]));
                Some(one?.followed_by(other?))
            }
            None => lines(data),
        }
    }

    /// Appends a piece.
    pub fn push(&mut self, piece: &[u8], rank: u32) {
        self.pieces.extend_from_slice(piece);
        self.texts.push((rank, self.pieces.len()));
        self.bytes += usize::from(piece.len() == 1);
    }

    /// Piece and rank, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        let starts = std::iter::once(0).chain(self.texts.iter().map(|&(_, end)| end));
        let both = starts.zip(&self.texts);
        both.map(|(start, &(rank, end))| (&self.pieces[start..end], rank))
    }

    /// The pieces by their ranks, an empty one left out; None if a piece or a rank stands twice, or ranks are far apart.
    pub fn into_pieces(self) -> Option<Vocab> {
        crate::by_id(self.pieces, &self.texts).map(|(vocab, _)| vocab)
    }

    fn followed_by(mut self, other: Self) -> Self {
        let before = self.pieces.len();
        self.pieces.extend_from_slice(&other.pieces);
        self.texts.extend(other.texts.iter().map(|&(rank, end)| (rank, before + end)));
        self.bytes += other.bytes;
        self
    }
}

fn lines(data: &[u8]) -> Option<Ranks> {
    let mut pieces = Vec::with_capacity(data.len());
    let mut texts = Vec::with_capacity(data.len() / 12);
    let mut bytes = 0;
    let mut rest = data;
    loop {
        let start = pieces.len();
        rest = decode(rest, &mut pieces)?;
        bytes += usize::from(pieces.len() == start + 1);
        let mut rank = 0;
        let digits = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
        if !matches!(digits, 1..=9) {
            return None;
        }
        for digit in &rest[..digits] {
            rank = rank * 10 + u32::from(digit - b'0');
        }
        texts.push((rank, pieces.len()));
        rest = match &rest[digits..] {
            [] | [b'\r'] => return Some(Ranks { pieces, texts, bytes }),
            [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => rest,
            _ => return None,
        };
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Six bits for each of base64's characters, and for others a bit above these.
const VALUES: [u32; 256] = {
    let mut values = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        values[ALPHABET[at] as usize] = at as u32;
        at += 1;
    }
    values
};
const NONE: u32 = 1 << 6;

/// The bytes of base64 up to a space, written as it should be: padded, and nothing left over. What stands behind the
/// space.
fn decode<'a>(text: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (fours, _) = text.as_chunks::<4>();
    for (number, four) in fours.iter().enumerate() {
        let behind = &text[4 * number + 4..];
        let [one, two, three, last] = four.map(|character| VALUES[usize::from(character)]);
        if one | two | three | last < NONE {
            let bits = one << 18 | two << 12 | three << 6 | last;
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            if let Some((b' ', behind)) = behind.split_first() {
                return Some(behind);
            }
            continue;
        }
        // The last four characters may stand for two bytes or one.
        let (all, bits, left, bytes) = match four {
            [.., b'=', b'='] => (one | two, one << 6 | two, 4, 1),
            [.., b'='] => (one | two | three, one << 12 | two << 6 | three, 2, 2),
            _ => return None,
        };
        if all >= NONE || bits & ((1 << left) - 1) != 0 {
            return None;
        }
        out.extend_from_slice(&(bits >> left).to_be_bytes()[4 - bytes..]);
        return behind.strip_prefix(b" ");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let text = format!("{text} 5");
        (decode(text.as_bytes(), &mut out)? == b"5").then_some(out)
    }

    #[test]
    fn base64() {
        assert_eq!(decoded("IQ=="), Some(b"!".to_vec()));
        assert_eq!(decoded("bG8="), Some(b"lo".to_vec()));
        assert_eq!(decoded("bG93"), Some(b"low".to_vec()));
        assert_eq!(decoded("/+8BbG8="), Some([0xFF, 0xEF, 1, b'l', b'o'].to_vec()));
        for wrong in [
            "", "=", "====", "IQ=", "IQ", "IR==", "I===", "a-b=", "bG9=", "=bG8", "IQ===",
            "IQ==bG93", "bG93 ", " bG9", "bG8=\n", "-Q==", "I-==", "IQ-=", "-G8=", "b-8=", "bG-=",
            "-G93", "b-93", "bG-3", "bG9-", "bG93-Q==", "=Q==",
        ] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }

    fn file(more: &str) -> Vec<u8> {
        let mut data = Vec::new();
        for byte in 0..=255u8 {
            let (high, low) = (usize::from(byte >> 2), usize::from(byte & 3) << 4);
            data.extend([ALPHABET[high], ALPHABET[low]]);
            data.extend(format!("== {byte}\n").bytes());
        }
        data.extend(more.bytes());
        data
    }

    /// Longer than what is worth a thread.
    #[test]
    fn two_threads_read_what_one_does() {
        let alphabet: Vec<u8> = ALPHABET[..62].to_vec();
        let mut more = String::new();
        for n in 0..9000usize {
            let letter = |at: u32| char::from(alphabet[n / 62usize.pow(at) % 62]);
            more += &format!(
                "{}{}{}a{} {}\n",
                letter(0),
                letter(1),
                letter(2),
                "Zm9v".repeat(n % 5),
                n + 256
            );
        }
        let data = file(&more);
        assert!(data.len() > WORTH);
        let (vocab, one) = (read(&data).unwrap(), super::lines(data.strip_suffix(b"\n").unwrap()));
        let one = one.unwrap();
        assert_eq!(vocab.len(), 9256);
        let mut start = 0;
        for &(rank, end) in &one.texts {
            assert_eq!(vocab.piece(rank), Some(&one.pieces[start..end]));
            start = end;
        }
        // A fault in either half.
        for place in [data.len() / 4, data.len() * 3 / 4] {
            let mut wrong = data.clone();
            wrong[place] = b'-';
            assert!(read(&wrong).is_none());
        }
    }

    #[test]
    fn lines() {
        let vocab = read(&file("bG8= 300\r\nbG93 256")).unwrap();
        assert_eq!(vocab.len(), 301);
        assert_eq!(vocab.id(b"low"), Some(256));
        assert_eq!(vocab.piece(32), Some(&b" "[..]));
        assert!(vocab.piece(299).is_none());
        for wrong in ["bG8= 5", "IQ== 256", "bG8=  256", "bG8= 256 ", "bG8=", "\n", "bG8= 2000000"]
        {
            assert!(read(&file(wrong)).is_none(), "{wrong}");
        }
        assert!(read(&file("")[8..]).is_none());
        assert!(read(b"").is_none());
    }
}
