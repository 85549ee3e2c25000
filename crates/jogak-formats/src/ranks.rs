//! The lines of a `.tiktoken` file: base64, one space, the rank.

use jogak::beside::both;
use jogak::symbols::draw_as_utf8;
use jogak::vocab::Vocab;

/// The pieces of a rank file, drawn in GPT-2's printable characters; the id is the rank.
///
/// None for a line that is anything else, a piece or a rank that stands twice, ranks far apart, or one of
/// the 256 bytes that is no piece. (An empty piece is written in a way that base64 has not, and left to others.)
///
/// ```
/// assert!(jogak_formats::ranks::read(b"IQ== 0\n").is_none()); // not all bytes
/// ```
pub fn read(data: &[u8]) -> Option<Vocab> {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let middle = memchr::memchr(b'\n', &data[data.len() / 2..]).filter(|_| data.len() >= WORTH);
    let all = match middle.map(|at| data.split_at(data.len() / 2 + at)) {
        Some((one, other)) => {
            let (one, other) = both(true, || lines(one), || lines(&other[1..]));
            one?.followed_by(other?)
        }
        None => lines(data)?,
    };
    // All pieces are different, so these are all bytes.
    (all.bytes == 256).then(|| crate::by_id(&all.drawn, &all.texts))?.map(|(vocab, _)| vocab)
}

/// Fewer bytes than these are not worth a thread.
const WORTH: usize = 1 << 16;

/// Some lines of a file.
struct Lines {
    /// The pieces, one behind the other.
    drawn: Vec<u8>,
    /// The rank of each, and where it ends.
    texts: Vec<(u32, usize)>,
    /// How many of them are one byte.
    bytes: usize,
}

impl Lines {
    fn followed_by(mut self, other: Self) -> Self {
        let before = self.drawn.len();
        self.drawn.extend_from_slice(&other.drawn);
        self.texts.extend(other.texts.iter().map(|&(rank, end)| (rank, before + end)));
        self.bytes += other.bytes;
        self
    }
}

fn lines(data: &[u8]) -> Option<Lines> {
    let mut drawn = Vec::with_capacity(data.len());
    let mut texts = Vec::with_capacity(data.len() / 12);
    let mut piece = Vec::new();
    let mut bytes = 0;
    for line in data.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let space = memchr::memchr(b' ', line)?;
        piece.clear();
        decode(&line[..space], &mut piece)?;
        let digits = &line[space + 1..];
        if !matches!(digits.len(), 1..=9) {
            return None;
        }
        let rank = digits.iter().try_fold(0, |rank, &digit| {
            digit.is_ascii_digit().then(|| rank * 10 + u32::from(digit - b'0'))
        })?;
        bytes += usize::from(piece.len() == 1);
        draw_as_utf8(&piece, &mut drawn);
        texts.push((rank, drawn.len()));
    }
    Some(Lines { drawn, texts, bytes })
}

/// Stands where a character is none of base64's.
const NONE: u8 = 0xFF;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values
};

/// The bytes of base64, written as it should be: padded, and nothing left over.
fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let bare = text.strip_suffix(b"=").unwrap_or(text);
    let bare = bare.strip_suffix(b"=").unwrap_or(bare);
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return None;
    }
    for four in bare.chunks(4) {
        let mut bits = 0u32;
        for &character in four {
            let value = VALUES[usize::from(character)];
            if value == NONE {
                return None;
            }
            bits = bits << 6 | u32::from(value);
        }
        let bytes = four.len() * 6 / 8;
        let left = four.len() * 6 % 8;
        if bytes == 0 || bits & ((1 << left) - 1) != 0 {
            return None;
        }
        let bits = bits >> left << (32 - 8 * bytes);
        out.extend_from_slice(&bits.to_be_bytes()[..bytes]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(text.as_bytes(), &mut out)?;
        Some(out)
    }

    #[test]
    fn base64() {
        assert_eq!(decoded("IQ=="), Some(b"!".to_vec()));
        assert_eq!(decoded("bG8="), Some(b"lo".to_vec()));
        assert_eq!(decoded("bG93"), Some(b"low".to_vec()));
        assert_eq!(decoded("/+8BbG8="), Some([0xFF, 0xEF, 1, b'l', b'o'].to_vec()));
        for wrong in ["", "=", "====", "IQ=", "IQ", "IR==", "I===", "a-b=", "bG9=", "=bG8", "IQ==="]
        {
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
            assert_eq!(vocab.piece(rank), Some(&one.drawn[start..end]));
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
        assert_eq!(vocab.piece(32), Some("Ġ".as_bytes()));
        assert!(vocab.piece(299).is_none());
        for wrong in ["bG8= 5", "IQ== 256", "bG8=  256", "bG8= 256 ", "bG8=", "\n", "bG8= 2000000"]
        {
            assert!(read(&file(wrong)).is_none(), "{wrong}");
        }
        assert!(read(&file("")[8..]).is_none());
        assert!(read(b"").is_none());
    }
}
