//! Signatures with a key pair, as a signer of its own makes them: of heads, of URLs, and of bodies in chunks with their trailers.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use service::{Answer, Draft, OWNER, World};
use sha2::{Digest, Sha256};

const TIME: &str = "20261121T070626Z";
const DAY: &str = "20261121";
/// The order of the curve.
const ORDER: [u8; 32] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
];
/// Characters of a signature of a chunk that is padded.
const PADDED: usize = 144;
const CHECKSUM: &str = "checksum-crc32";

/// The words of a dialect, written out here so that the test shares no table with the service.
#[derive(Debug, Clone, Copy)]
struct Words {
    prefix: &'static str,
    query: &'static str,
    algorithm: &'static str,
    end: &'static str,
}

const AMZ: Words = Words {
    prefix: "x-amz-",
    query: "X-Amz-",
    algorithm: "AWS4-ECDSA-P256-SHA256",
    end: "aws4_request",
};
const STORE: Words = Words {
    prefix: "x-store-",
    query: "X-Store-",
    algorithm: "STORE4-ECDSA-P256-SHA256",
    end: "store4_request",
};
const BOTH: [Words; 2] = [AMZ, STORE];

fn seen(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

fn hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The signer of an access key in a dialect.
struct Signer {
    words: Words,
    key: SigningKey,
    service: &'static str,
}

impl Signer {
    fn new(words: Words, secret: &str) -> Self {
        let input = format!("{}A{secret}", words.algorithm.split_once('-').unwrap().0);
        let mut mac = Hmac::<Sha256>::new_from_slice(input.as_bytes()).unwrap();
        let label = [words.algorithm.as_bytes(), &[0], OWNER.0.as_bytes(), &[1]].concat();
        mac.update(&[&[0, 0, 0, 1][..], &label, &[0, 0, 1, 0]].concat());
        let mut number: [u8; 32] = mac.finalize().into_bytes().into();
        for byte in number.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        Self { words, key: SigningKey::from_slice(&number).unwrap(), service: "s3" }
    }

    fn own(words: Words) -> Self {
        Self::new(words, OWNER.1)
    }

    fn header(&self, name: &str) -> String {
        format!("{}{name}", self.words.prefix)
    }

    fn scope(&self) -> String {
        format!("{DAY}/{}/{}", self.service, self.words.end)
    }

    /// The two numbers of a signature of `text`.
    fn numbers(&self, text: &str) -> ([u8; 32], [u8; 32]) {
        let signature: Signature = self.key.sign(text.as_bytes());
        let (r, s) = signature.split_bytes();
        (r.into(), s.into())
    }

    fn sign(&self, text: &str) -> String {
        let (r, s) = self.numbers(text);
        hex::encode(der(&r, &s))
    }

    fn text_of(&self, canonical: &str) -> String {
        let Words { algorithm, .. } = self.words;
        format!("{algorithm}\n{TIME}\n{}\n{}", self.scope(), hash(canonical.as_bytes()))
    }
}

fn number(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len() - 1);
    let digits = &bytes[start..];
    let sign: &[u8] = if digits[0] >= 0x80 { &[0] } else { &[] };
    integer(&[sign, digits].concat())
}

fn integer(content: &[u8]) -> Vec<u8> {
    [&[0x02, u8::try_from(content.len()).unwrap()], content].concat()
}

fn sequence(numbers: &[Vec<u8>]) -> Vec<u8> {
    let all = numbers.concat();
    [vec![0x30, u8::try_from(all.len()).unwrap()], all].concat()
}

fn der(r: &[u8], s: &[u8]) -> Vec<u8> {
    sequence(&[number(r), number(s)])
}

/// The order less a number: the other of the two that sign the same.
fn other_half(s: &[u8; 32]) -> [u8; 32] {
    let mut other = [0; 32];
    let mut borrow = 0;
    for place in (0..32).rev() {
        let left = i16::from(ORDER[place]) - i16::from(s[place]) - borrow;
        borrow = i16::from(left < 0);
        other[place] = u8::try_from(left.rem_euclid(256)).unwrap();
    }
    other
}

/// A request whose head is signed.
struct Head {
    method: &'static str,
    host: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    payload: String,
}

impl Head {
    fn new(signer: &Signer, method: &'static str, path: &str, regions: &[&str]) -> Self {
        let region = |set: &&str| (signer.header("region-set"), (*set).to_owned());
        Self {
            method,
            host: "localhost",
            path: path.to_owned(),
            headers: regions.iter().map(region).collect(),
            payload: "UNSIGNED-PAYLOAD".to_owned(),
        }
    }

    fn all(&self, signer: &Signer) -> Vec<(String, String)> {
        let mut all = self.headers.clone();
        all.push(("host".to_owned(), self.host.to_owned()));
        all.push((signer.header("date"), TIME.to_owned()));
        all.push((signer.header("content-sha256"), self.payload.clone()));
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }

    fn signed_names(&self, signer: &Signer) -> String {
        let mut names: Vec<_> = self.all(signer).into_iter().map(|(name, _)| name).collect();
        names.dedup();
        names.join(";")
    }

    /// The text that is signed; repeated headers count as one with commas between.
    fn text(&self, signer: &Signer, signed: &str) -> String {
        let all = self.all(signer);
        let mut lines = String::new();
        for name in signed.split(';') {
            let values = all.iter().filter(|(own, _)| own == name);
            let values: Vec<_> = values.map(|(_, value)| value.trim()).collect();
            lines.push_str(&format!("{name}:{}\n", values.join(",")));
        }
        let Self { method, path, payload, .. } = self;
        signer.text_of(&format!("{method}\n{path}\n\n{lines}\n{signed}\n{payload}"))
    }

    fn signature(&self, signer: &Signer) -> String {
        signer.sign(&self.text(signer, &self.signed_names(signer)))
    }

    /// The bytes of the request with this signature over these headers.
    fn bytes(&self, signer: &Signer, signed: &str, signature: &str, body: &[u8]) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in self.all(signer) {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        let (algorithm, scope) = (signer.words.algorithm, signer.scope());
        out.push_str(&format!(
            "content-length: {}\r\nauthorization: {algorithm} Credential={}/{scope}, SignedHeaders={signed}, Signature={signature}\r\n\r\n",
            body.len(),
            OWNER.0
        ));
        [out.as_bytes(), body].concat()
    }

    async fn send(&self, world: &World, signer: &Signer, body: &[u8]) -> Answer {
        let signature = self.signature(signer);
        let signed = self.signed_names(signer);
        world.exchange(&self.bytes(signer, &signed, &signature, body)).await
    }
}

/// The form in which a client writes signatures of chunks.
#[derive(Debug, Clone, Copy)]
struct Form {
    trailer: bool,
    /// True if signatures are filled up to one length.
    padded: bool,
    /// True if what fills a signature up is signed with the next.
    chains_padding: bool,
}

const FORMS: [Form; 6] = [
    Form { trailer: false, padded: false, chains_padding: false },
    Form { trailer: false, padded: true, chains_padding: false },
    Form { trailer: false, padded: true, chains_padding: true },
    Form { trailer: true, padded: false, chains_padding: false },
    Form { trailer: true, padded: true, chains_padding: false },
    Form { trailer: true, padded: true, chains_padding: true },
];

/// An upload in chunks: its head, its frames, and the fields of its trailer.
struct Chunked {
    signer: Signer,
    head: Head,
    seed: String,
    /// Signature and data of each chunk, the last of no bytes.
    chunks: Vec<(String, Vec<u8>)>,
    trailer: Vec<(String, String)>,
}

impl Chunked {
    fn new(words: Words, form: Form, pieces: &[Vec<u8>]) -> Self {
        let signer = Signer::own(words);
        let mut head = Head::new(&signer, "PUT", "/bkt/chunked", &["us-east-1"]);
        let end = if form.trailer { "-TRAILER" } else { "" };
        head.payload = format!("STREAMING-{}-PAYLOAD{end}", words.algorithm);
        let body = pieces.concat();
        head.headers.push((signer.header("decoded-content-length"), body.len().to_string()));
        head.headers.push(("content-encoding".to_owned(), "aws-chunked".to_owned()));
        if form.trailer {
            head.headers.push((signer.header("trailer"), signer.header(CHECKSUM)));
        }
        let seed = head.signature(&signer);
        let mut own = Self { signer, head, seed, chunks: Vec::new(), trailer: Vec::new() };
        let mut previous = own.seed.clone();
        let last = [Vec::new()];
        for piece in pieces.iter().chain(&last) {
            let signature = own.sign_next(&previous, piece, form);
            previous = own.chained(&signature, form);
            own.chunks.push((signature, piece.clone()));
        }
        if form.trailer {
            let value = STANDARD.encode(crc32fast::hash(&body).to_be_bytes());
            let name = own.signer.header(CHECKSUM);
            let signature = own.sign_trailer(&previous, &format!("{name}:{value}\n"), form);
            own.trailer = vec![(name, value), (own.signer.header("trailer-signature"), signature)];
        }
        own
    }

    fn chained(&self, signature: &str, form: Form) -> String {
        match form.chains_padding {
            true => signature.to_owned(),
            false => signature.trim_end_matches('*').to_owned(),
        }
    }

    fn finish(signature: String, form: Form) -> String {
        if form.padded { format!("{signature:*<PADDED$}") } else { signature }
    }

    fn sign_next(&self, previous: &str, data: &[u8], form: Form) -> String {
        let (algorithm, scope) = (self.signer.words.algorithm, self.signer.scope());
        let text = format!(
            "{algorithm}-PAYLOAD\n{TIME}\n{scope}\n{previous}\n{}\n{}",
            hash(b""),
            hash(data)
        );
        Self::finish(self.signer.sign(&text), form)
    }

    fn sign_trailer(&self, previous: &str, lines: &str, form: Form) -> String {
        let (algorithm, scope) = (self.signer.words.algorithm, self.signer.scope());
        let hash = hash(lines.as_bytes());
        let text = format!("{algorithm}-TRAILER\n{TIME}\n{scope}\n{previous}\n{hash}");
        Self::finish(self.signer.sign(&text), form)
    }

    fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (signature, data) in &self.chunks {
            body.extend(format!("{:x};chunk-signature={signature}\r\n", data.len()).into_bytes());
            body.extend(data);
            if !data.is_empty() {
                body.extend(b"\r\n");
            }
        }
        for (name, value) in &self.trailer {
            body.extend(format!("{name}:{value}\r\n").into_bytes());
        }
        body.extend(b"\r\n");
        body
    }

    async fn send(&self, world: &World) -> Answer {
        self.send_body(world, &self.body()).await
    }

    async fn send_body(&self, world: &World, body: &[u8]) -> Answer {
        let signed = self.head.signed_names(&self.signer);
        world.exchange(&self.head.bytes(&self.signer, &signed, &self.seed, body)).await
    }

    /// Sends it, expects a refusal, and that nothing came of it.
    async fn is_refused(&self, world: &World, status: u16, code: &str, place: &str) {
        let answer = self.send(world).await;
        assert_eq!(seen(&answer), (status, code.to_owned()), "{place}: {}", answer.text());
        assert_eq!(world.fetch("/bkt/chunked").await.status, 404, "{place}: it is stored");
    }
}

fn pieces() -> Vec<Vec<u8>> {
    vec![vec![b'a'; 8_192], vec![b'b'; 8_192], b"end".to_vec()]
}

#[tokio::test]
async fn bodies_whose_chunks_and_trailers_are_signed_with_a_key_pair_are_taken() {
    let world = World::new(service::NOW).await;
    for words in BOTH {
        for form in FORMS {
            for pieces in [vec![], vec![b"x".to_vec()], vec![vec![b'y'; 8_192]], pieces()] {
                let upload = Chunked::new(words, form, &pieces);
                let answer = upload.send(&world).await;
                assert_eq!(answer.status, 200, "{words:?} {form:?}: {}", answer.text());
                let get = world.fetch("/bkt/chunked").await;
                assert_eq!(get.body, pieces.concat(), "{words:?} {form:?}");
                assert_eq!(get.header("content-encoding"), None);
                let checksum = answer.header(&upload.signer.header(CHECKSUM));
                assert_eq!(checksum.is_some(), form.trailer, "{words:?} {form:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_chunk_that_was_changed_moved_left_out_or_repeated_is_refused_and_nothing_is_stored() {
    let world = World::new(service::NOW).await;
    for (words, form) in [(AMZ, FORMS[0]), (STORE, FORMS[4]), (AMZ, FORMS[5])] {
        let new = || Chunked::new(words, form, &pieces());
        let refused = "SignatureDoesNotMatch";
        for place in 0..3 {
            let mut changed = new();
            changed.chunks[place].1[0] ^= 1;
            changed.is_refused(&world, 403, refused, "a byte of a chunk").await;
        }
        for place in 0..4 {
            let mut changed = new();
            let digits = changed.chunks[place].0.clone();
            let digit = if digits.as_bytes()[20] == b'0' { "1" } else { "0" };
            changed.chunks[place].0.replace_range(20..21, digit);
            changed.is_refused(&world, 403, refused, "a digit of a signature").await;
            let mut unsigned = new();
            unsigned.chunks[place].0.clear();
            unsigned.is_refused(&world, 400, "IncompleteBody", "a signature of nothing").await;
            let mut of_seed = new();
            of_seed.chunks[place].0 = of_seed.seed.clone();
            of_seed.is_refused(&world, 403, refused, "the signature of the head").await;
        }
        let mut moved = new();
        moved.chunks.swap(0, 1);
        moved.is_refused(&world, 403, refused, "two chunks in each other's place").await;
        let mut repeated = new();
        let first = repeated.chunks[0].clone();
        repeated.chunks[1] = first;
        repeated.is_refused(&world, 403, refused, "a chunk twice").await;
        let mut without = new();
        without.chunks.remove(1);
        without.is_refused(&world, 403, refused, "a chunk left out").await;
        // A chain that begins elsewhere, and one of another key.
        let mut unchained = new();
        unchained.chunks[0].0 = unchained.sign_next("", &unchained.chunks[0].1, form);
        unchained.is_refused(&world, 403, refused, "a chain without its head").await;
        let mut foreign = new();
        let seed = foreign.seed.clone();
        foreign.signer = Signer::new(words, "another");
        foreign.chunks[0].0 = foreign.sign_next(&seed, &foreign.chunks[0].1, form);
        foreign.is_refused(&world, 403, refused, "a chunk of another key").await;
    }
}

#[tokio::test]
async fn a_body_that_ends_early_is_refused_wherever_it_does() {
    let world = World::new(service::NOW).await;
    for (words, form) in [(AMZ, FORMS[1]), (STORE, FORMS[3])] {
        let upload = Chunked::new(words, form, &pieces());
        let body = upload.body();
        let last = body.len() - 2;
        for end in [0, 1, 60, 200, 8_191, 8_400, 16_600, last - 200, last - 100, last - 1, last + 1]
        {
            let answer = upload.send_body(&world, &body[..end]).await;
            assert_eq!(seen(&answer), (400, "IncompleteBody".to_owned()), "{end} {form:?}");
            assert_eq!(world.fetch("/bkt/chunked").await.status, 404, "{end} {form:?}");
        }
        // The empty line at the end may be missing, and what follows it says nothing.
        for whole in [body[..last].to_vec(), [&body[..], b"0"].concat()] {
            let answer = upload.send_body(&world, &whole).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        let deleted = world.send(&Draft::new("DELETE", "/bkt/chunked", b"")).await;
        assert_eq!(deleted.status, 204);
    }
}

#[tokio::test]
async fn a_trailer_is_signed_once_whole_and_after_the_last_chunk() {
    let world = World::new(service::NOW).await;
    for (words, form) in [(AMZ, FORMS[3]), (STORE, FORMS[5])] {
        let new = || Chunked::new(words, form, &pieces());
        let refused = "SignatureDoesNotMatch";
        let mut wrong = new();
        wrong.trailer[1].1 = wrong.chunks[2].0.clone();
        wrong.is_refused(&world, 403, refused, "the signature of a chunk").await;
        let mut other = new();
        other.trailer[0].1 = STANDARD.encode([0; 4]);
        other.is_refused(&world, 403, refused, "a checksum that was changed").await;
        let mut unchained = new();
        let (name, value) = unchained.trailer[0].clone();
        let previous = unchained.chained(&unchained.chunks[2].0, form);
        let lines = format!("{name}:{value}\n");
        unchained.trailer[1].1 = unchained.sign_trailer(&previous, &lines, form);
        unchained.is_refused(&world, 403, refused, "a chain without the last chunk").await;
        let mut as_chunk = new();
        let previous = as_chunk.chained(&as_chunk.chunks[3].0, form);
        as_chunk.trailer[1].1 = as_chunk.sign_next(&previous, lines.as_bytes(), form);
        as_chunk.is_refused(&world, 403, refused, "signed as a chunk").await;
        // Signed, and not the checksum of the body.
        let mut lies = new();
        let value = STANDARD.encode([0; 4]);
        let lines = format!("{name}:{value}\n");
        let previous = lies.chained(&lies.chunks[3].0, form);
        lies.trailer = vec![
            (name.clone(), value),
            (lies.signer.header("trailer-signature"), lies.sign_trailer(&previous, &lines, form)),
        ];
        lies.is_refused(&world, 400, "BadDigest", "a checksum that is signed and wrong").await;
        let malformed = "MalformedTrailerError";
        let mut unsigned = new();
        unsigned.trailer.pop();
        unsigned.is_refused(&world, 400, "IncompleteBody", "no signature").await;
        let mut twice = new();
        let signature = twice.trailer[1].clone();
        twice.trailer.push(signature);
        twice.is_refused(&world, 400, malformed, "the signature twice").await;
        let mut missing = new();
        missing.trailer.remove(0);
        missing.is_refused(&world, 400, malformed, "no checksum").await;
        let mut more = new();
        let field = (more.signer.header("meta-a"), "b".to_owned());
        more.trailer.insert(1, field);
        more.is_refused(&world, 400, malformed, "a field that was not announced").await;
    }
    let mut unannounced = Chunked::new(AMZ, FORMS[0], &pieces());
    unannounced.trailer = Chunked::new(AMZ, FORMS[3], &pieces()).trailer;
    unannounced.is_refused(&world, 400, "MalformedTrailerError", "a trailer of none").await;
}

#[tokio::test]
async fn a_signature_is_two_numbers_of_the_curve_in_their_shortest_form() {
    let world = World::new(service::NOW).await;
    world.store("/bkt/k", b"here").await;
    for words in BOTH {
        let signer = Signer::own(words);
        let head = Head::new(&signer, "GET", "/bkt/k", &["*"]);
        let signed = head.signed_names(&signer);
        let (r, s) = signer.numbers(&head.text(&signer, &signed));
        let send = |signature: String| {
            let bytes = head.bytes(&signer, &signed, &signature, b"");
            let world = &world;
            async move { world.exchange(&bytes).await }
        };
        // Either half: clients make both.
        for s in [s, other_half(&s)] {
            let answer = send(hex::encode(der(&r, &s))).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        let zero = [0; 32];
        let good = der(&r, &s);
        let long_form = [&[0x30, 0x81][..], &good[1..]].concat();
        let with = |place: usize, byte: u8| {
            let mut changed = good.clone();
            changed[place] = byte;
            changed
        };
        let first = usize::from(good[3]);
        let after_first = &good[4 + first..];
        let lengthened = [&[0][..], &good[4..4 + first]].concat();
        let foreign = Signer::new(words, "another").sign(&head.text(&signer, &signed));
        let elsewhere = Head::new(&signer, "GET", "/bkt/other", &["*"]).signature(&signer);
        for (place, signature) in [
            ("zero r", hex::encode(der(&zero, &s))),
            ("zero s", hex::encode(der(&r, &zero))),
            ("zero twice", hex::encode(der(&zero, &zero))),
            ("the order as r", hex::encode(der(&ORDER, &s))),
            ("the order as s", hex::encode(der(&r, &ORDER))),
            ("beyond the order", hex::encode(der(&r, &[0xFF; 32]))),
            ("33 bytes", hex::encode(der(&[&[1][..], &r].concat(), &s))),
            ("another curve", hex::encode(der(&[0x71; 48], &[0x17; 48]))),
            ("negative", hex::encode(sequence(&[integer(&[0x80; 32]), number(&s)]))),
            (
                "a zero too many",
                hex::encode(sequence(&[integer(&lengthened), after_first.to_vec()])),
            ),
            ("a long length", hex::encode(long_form)),
            ("another sequence", hex::encode(with(0, 0x31))),
            ("another number", hex::encode(with(2, 0x03))),
            ("a length too great", hex::encode(with(1, good[1] + 1))),
            ("a length too small", hex::encode(with(1, good[1] - 1))),
            ("bytes after it", hex::encode([&good[..], &[0]].concat())),
            ("a third number", hex::encode(sequence(&[number(&r), number(&s), number(&s)]))),
            ("one number", hex::encode(sequence(&[number(&r)]))),
            ("none", hex::encode(sequence(&[]))),
            ("no DER", hex::encode([r, s].concat())),
            ("base64", STANDARD.encode(&good).replace('=', "")),
            ("half a byte", hex::encode(&good)[1..].to_owned()),
            ("no digits", "zz".repeat(70)),
            ("padding of chunks", format!("{}**", hex::encode(&good))),
            ("five thousand digits", "30".repeat(2_500)),
            ("a shared key", hash(b"x")),
            ("of another key", foreign),
            ("of another request", elsewhere),
        ] {
            let answer = send(signature).await;
            let expected = (403, "SignatureDoesNotMatch".to_owned());
            assert_eq!(seen(&answer), expected, "{place}: {}", answer.text());
        }
        let none = send(String::new()).await;
        assert_eq!(seen(&none), (400, "AuthorizationHeaderMalformed".to_owned()));
    }
}

#[tokio::test]
async fn a_set_of_regions_takes_the_region_of_the_service_or_is_refused() {
    let world = World::new(service::NOW).await;
    world.store("/bkt/k", b"here").await;
    let long = |start: &str, bytes: usize| start.repeat(bytes / start.len());
    for words in BOTH {
        let signer = Signer::own(words);
        let long_list = format!("{}us-east-1", long("eu-west-1,", 7_000));
        for set in [
            &["us-east-1"][..],
            &["*"],
            &["us-*"],
            &["*-1"],
            &["*-east-*"],
            &["eu-west-1,us-east-1"],
            &["eu-west-1 , us-east-1"],
            &["us-east-1,us-east-1"],
            &["eu-west-1", "us-east-1"],
            &[long_list.as_str()],
        ] {
            let answer = Head::new(&signer, "GET", "/bkt/k", set).send(&world, &signer, b"").await;
            assert_eq!(answer.status, 200, "{set:?}: {}", answer.text());
        }
        let (list, stars) = (long("eu-west-1,", 7_000), long("*a", 7_000));
        for set in [
            &[][..],
            &[""],
            &[","],
            &[" , ,"],
            &["us-east-2"],
            &["us-east-1x"],
            &["xus-east-1"],
            &["US-EAST-1"],
            &["us-east-?"],
            &["us_east_1"],
            &["eu-*,ap-*"],
            &["us-east-1;eu-west-1"],
            &[list.as_str()],
            &[stars.as_str()],
        ] {
            let answer = Head::new(&signer, "GET", "/bkt/k", set).send(&world, &signer, b"").await;
            let expected = (400, "AuthorizationHeaderMalformed".to_owned());
            assert_eq!(seen(&answer), expected, "{set:?}: {}", answer.text());
        }
        let beyond = format!("us-east-1,{}", long("eu-west-1,", 8_192));
        let answer =
            Head::new(&signer, "GET", "/bkt/k", &[&beyond]).send(&world, &signer, b"").await;
        assert_eq!(seen(&answer), (400, "RequestHeaderSectionTooLarge".to_owned()));
        // Another set than the one that is signed, and one that is not signed.
        let head = Head::new(&signer, "GET", "/bkt/k", &["us-east-1"]);
        let (signed, signature) = (head.signed_names(&signer), head.signature(&signer));
        let changed = Head::new(&signer, "GET", "/bkt/k", &["*"]);
        let answer = world.exchange(&changed.bytes(&signer, &signed, &signature, b"")).await;
        assert_eq!(seen(&answer), (403, "SignatureDoesNotMatch".to_owned()));
        let bare = signed.replace(&format!("{};", signer.header("region-set")), "");
        let bare = bare.replace(&format!(";{}", signer.header("region-set")), "");
        let signature = signer.sign(&head.text(&signer, &bare));
        let answer = world.exchange(&head.bytes(&signer, &bare, &signature, b"")).await;
        assert_eq!(seen(&answer), (403, "AccessDenied".to_owned()));
    }
}

/// A URL that is signed for these regions, and names those.
fn url(signer: &Signer, path: &str, signed_for: &str, names: &str) -> String {
    let Words { query, algorithm, .. } = signer.words;
    let credential = format!("{}/{}", OWNER.0, signer.scope()).replace('/', "%2F");
    let with = |regions: &str| {
        format!(
            "{query}Algorithm={algorithm}&{query}Credential={credential}&{query}Date={TIME}&{query}Expires=900&{query}Region-Set={regions}&{query}SignedHeaders=host"
        )
    };
    let canonical =
        format!("GET\n{path}\n{}\nhost:localhost\n\nhost\nUNSIGNED-PAYLOAD", with(signed_for));
    let signature = signer.sign(&signer.text_of(&canonical));
    format!("{path}?{}&{query}Signature={signature}", with(names))
}

#[tokio::test]
async fn a_url_is_for_the_regions_that_it_is_signed_for() {
    let world = World::new(service::NOW).await;
    world.store("/bkt/k", b"here").await;
    for words in BOTH {
        let signer = Signer::own(words);
        for (signed_for, names, status, code) in [
            ("us-east-1", "us-east-1", 200, ""),
            ("%2A", "%2A", 200, ""),
            ("eu-west-1%2Cus-%2A", "eu-west-1%2Cus-%2A", 200, ""),
            ("us-east-1", "%2A", 403, "SignatureDoesNotMatch"),
            ("eu-west-1", "eu-west-1", 400, "AuthorizationQueryParametersError"),
            ("", "", 400, "AuthorizationQueryParametersError"),
        ] {
            let target = url(&signer, "/bkt/k", signed_for, names);
            let request = format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n");
            let answer = world.exchange(request.as_bytes()).await;
            assert_eq!(seen(&answer), (status, code.to_owned()), "{names}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn every_kind_of_bucket_takes_a_signature_with_a_key_pair() {
    let world = World::new(service::NOW).await;
    for words in BOTH {
        for (host, path, service) in [
            ("localhost", "/bkt/pair", "s3"),
            ("bkt.localhost", "/pair", "s3"),
            ("myap-111122223333.localhost", "/pair", "s3"),
            ("mybkt--use1-az4--x-s3.localhost", "/pair", "s3express"),
            ("mine--use1-az4--xa-s3.localhost", "/pair", "s3express"),
            ("outap-111122223333.op-01234567890123456.localhost", "/pair", "s3-outposts"),
        ] {
            let signer = Signer { service, ..Signer::own(words) };
            for (method, body) in [("PUT", &b"paired"[..]), ("GET", b"")] {
                let head = Head { host, ..Head::new(&signer, method, path, &["us-east-1"]) };
                let answer = head.send(&world, &signer, body).await;
                assert_eq!(answer.status, 200, "{host} {method}: {}", answer.text());
                assert!(method == "PUT" || answer.body == b"paired", "{host}");
            }
        }
    }
}
