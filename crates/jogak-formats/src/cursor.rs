//! A place in JSON text, and how to go on from it.
//!
//! Rule: None where the text is not what is asked for, or spelled in a way that is left to others.

/// A place in a text.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A string of JSON: as it stands in the file, or with its escapes undone in the buffer that was given.
pub(crate) enum Read<'a> {
    Plain(&'a str),
    Undone,
}

impl<'a> Read<'a> {
    /// The string; `buffer` is what was given for it.
    pub(crate) fn text<'b>(self, buffer: &'b str) -> &'b str
    where
        'a: 'b,
    {
        match self {
            Self::Plain(text) => text,
            Self::Undone => buffer,
        }
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes past white space.
    pub(crate) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Goes past `byte`.
    pub(crate) fn eat(&mut self, byte: u8) -> Option<()> {
        self.is(byte).then_some(())
    }

    /// Goes past `byte` if it is there.
    pub(crate) fn is(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    /// Whether another item of a list or an object follows; goes past the comma, or past `end`.
    pub(crate) fn more(&mut self, end: u8) -> Option<bool> {
        self.space();
        if self.is(b',') {
            self.space();
            return Some(true);
        }
        self.eat(end).map(|()| false)
    }

    /// Whether nothing is left.
    pub(crate) fn is_done(&mut self) -> bool {
        self.space();
        self.at == self.text.len()
    }

    /// A string; `buffer` takes it where it has escapes.
    pub(crate) fn string(&mut self, buffer: &mut String) -> Option<Read<'a>> {
        self.eat(b'"')?;
        let bytes = self.text.as_bytes();
        let start = self.at;
        loop {
            match *bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(Read::Plain(&self.text[start..self.at - 1]));
                }
                b'\\' => break,
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        buffer.clear();
        buffer.push_str(&self.text[start..self.at]);
        loop {
            let from = self.at;
            while !matches!(*bytes.get(self.at)?, b'"' | b'\\' | 0..0x20) {
                self.at += 1;
            }
            buffer.push_str(&self.text[from..self.at]);
            if self.is(b'"') {
                return Some(Read::Undone);
            }
            self.eat(b'\\')?;
            let escape = *bytes.get(self.at)?;
            self.at += 1;
            buffer.push(match escape {
                b'"' | b'\\' | b'/' => char::from(escape),
                b'b' => '\u{8}',
                b'f' => '\u{C}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.unicode()?,
                _ => return None,
            });
        }
    }

    /// A character behind `\u`; half of a surrogate pair is none.
    fn unicode(&mut self) -> Option<char> {
        let high = self.four_digits()?;
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high);
        }
        self.eat(b'\\')?;
        self.eat(b'u')?;
        let low = self.four_digits()?.checked_sub(0xDC00).filter(|&low| low < 0x400)?;
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + low)
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits
            .iter()
            .try_fold(0, |number, &digit| Some(number * 16 + char::from(digit).to_digit(16)?))
    }

    /// A whole number of 32 bits.
    pub(crate) fn whole(&mut self) -> Option<u32> {
        self.integer().and_then(|number| u32::try_from(number).ok())
    }

    /// A whole number of 63 bits and a sign; the zero has none.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        let negative = self.is(b'-');
        let start = self.at;
        let mut number = 0i64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
            self.at += 1;
        }
        let length = self.at - start;
        let leading = length > 1 && self.text.as_bytes()[start] == b'0';
        let goes_on = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        let below_zero = negative && number == 0;
        let fine = length > 0 && !leading && !goes_on && !below_zero;
        fine.then_some(if negative { -number } else { number })
    }

    /// What stands up to the next comma, bracket or white space.
    pub(crate) fn word(&mut self) -> &'a str {
        let start = self.at;
        while let Some(byte) = self.peek()
            && !matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r')
        {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Goes past a value, of which only strings and brackets are looked at.
    pub(crate) fn skip(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                _ if self.word().is_empty() => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', bytes.get(self.at..)?)?;
            if bytes[self.at] == b'"' {
                self.at += 1;
                return Some(());
            }
            self.at += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Option<String> {
        let (mut cursor, mut buffer) = (Cursor::new(json), String::new());
        let read = cursor.string(&mut buffer)?;
        cursor.is_done().then(|| match read {
            Read::Plain(text) => text.to_owned(),
            Read::Undone => buffer,
        })
    }

    #[test]
    fn strings() {
        assert_eq!(text(r#""plain 밥""#).as_deref(), Some("plain 밥"));
        assert_eq!(text(r#""\u00e9\n\"\\\/ 밥\ud83d\udc11.""#).as_deref(), Some("é\n\"\\/ 밥🐑."));
        for wrong in [r#""\ud83d""#, r#""\ud83d\u0041""#, r#""\udc11""#, r#""\x""#, r#""\u12g4""#] {
            assert_eq!(text(wrong), None, "{wrong}");
        }
        for wrong in ["\"a\nb\"", "\"a", "\"a\\", "\"\\u00", "a\"", ""] {
            assert_eq!(text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn whole_numbers() {
        let whole = |json: &str| Cursor::new(json).whole();
        assert_eq!(whole("0"), Some(0));
        assert_eq!(whole("4294967295,"), Some(u32::MAX));
        for wrong in ["", "-1", "01", "4294967296", "1.0", "1e2", "x"] {
            assert_eq!(whole(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values_are_skipped() {
        for (json, rest) in [
            (r#"{"a": ["}", 1, {"b\"": null}]} , 5"#, 4),
            ("12.5e3,", 1),
            (r#""a\\" ]"#, 2),
            ("[] ", 1),
            ("true}", 1),
        ] {
            let mut cursor = Cursor::new(json);
            assert_eq!(cursor.skip(), Some(()), "{json}");
            assert_eq!(json.len() - cursor.at(), rest, "{json}");
        }
        for wrong in ["[1, 2", "", ",", "]", "\"a", "{\"a"] {
            assert_eq!(Cursor::new(wrong).skip(), None, "{wrong}");
        }
    }
}
