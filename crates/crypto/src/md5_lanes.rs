//! MD5 (RFC 1321) of several bodies at once. Each of its steps waits for the one before, so that one body leaves most of a core
//! idle: three that are computed side by side take little longer than one.

/// Bodies that are computed side by side at the most.
pub const LANES: usize = 3;
/// Bytes that MD5 takes at a time.
pub const BLOCK_BYTES: usize = 64;

/// The sum of a body that comes in pieces, whoever computes it.
pub trait Md5Sum: Send + std::fmt::Debug {
    /// Takes the next bytes.
    fn feed(&mut self, bytes: &bytes::Bytes);

    /// The sum of all bytes taken.
    fn finish(self: Box<Self>) -> [u8; 16];
}

impl Md5Sum for md5::Md5 {
    fn feed(&mut self, bytes: &bytes::Bytes) {
        md5::Digest::update(self, bytes);
    }

    fn finish(self: Box<Self>) -> [u8; 16] {
        md5::Digest::finalize(*self).into()
    }
}

/// The state of a body's MD5 between two blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Md5State([u32; 4]);

impl Default for Md5State {
    fn default() -> Self {
        Self([0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476])
    }
}

impl Md5State {
    /// The sum, once the last block was taken.
    #[must_use]
    pub fn sum(self) -> [u8; 16] {
        let mut sum = [0; 16];
        for (four, word) in sum.chunks_exact_mut(4).zip(self.0) {
            four.copy_from_slice(&word.to_le_bytes());
        }
        sum
    }
}

/// The end of a body of `bytes` bytes whose last ones, fewer than a block, are `tail`: with the padding, and the length in bits.
#[must_use]
pub fn last_blocks(tail: &[u8], bytes: u64) -> Vec<u8> {
    let mut last = tail.to_vec();
    last.push(0x80);
    let blocks = (last.len() + 8).div_ceil(BLOCK_BYTES);
    last.resize(blocks * BLOCK_BYTES - 8, 0);
    last.extend_from_slice(&bytes.wrapping_mul(8).to_le_bytes());
    last
}

/// Takes the next blocks of up to [`LANES`] bodies, each with its state: as many of each as the shortest has.
pub fn advance(states: &mut [Md5State], bodies: &[&[u8]]) {
    match (states, bodies) {
        ([a], [one]) => side_by_side([a], [one]),
        ([a, b], [one, two]) => side_by_side([a, b], [one, two]),
        ([a, b, c], [one, two, three]) => side_by_side([a, b, c], [one, two, three]),
        _ => debug_assert!(false, "as many states as bodies, and one to LANES of them"),
    }
}

fn side_by_side<const N: usize>(states: [&mut Md5State; N], bodies: [&[u8]; N]) {
    let mut blocks = bodies.map(|body| body.as_chunks::<BLOCK_BYTES>().0.iter());
    let mut words = transposed(states.each_ref().map(|state| state.0));
    loop {
        let next = blocks.each_mut().map(|blocks| blocks.next());
        if next.iter().any(Option::is_none) {
            break;
        }
        let message = transposed(next.map(|block| words_of(block.unwrap_or(&[0; BLOCK_BYTES]))));
        words = compress(words, &message);
    }
    for (state, words) in states.into_iter().zip(transposed(words)) {
        state.0 = words;
    }
}

fn words_of(block: &[u8; BLOCK_BYTES]) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// Rows as columns.
fn transposed<const ROWS: usize, const COLUMNS: usize>(
    rows: [[u32; COLUMNS]; ROWS],
) -> [[u32; ROWS]; COLUMNS] {
    std::array::from_fn(|column| rows.map(|row| row.get(column).copied().unwrap_or_default()))
}

/// The same word of each body.
type Lanes<const N: usize> = [u32; N];

/// The sines of RFC 1321, by rounds.
const SINES: [[[u32; 4]; 4]; 4] = [
    [
        [0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee],
        [0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501],
        [0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be],
        [0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821],
    ],
    [
        [0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa],
        [0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8],
        [0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed],
        [0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a],
    ],
    [
        [0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c],
        [0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70],
        [0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05],
        [0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665],
    ],
    [
        [0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039],
        [0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1],
        [0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1],
        [0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391],
    ],
];

fn compress<const N: usize>(before: [Lanes<N>; 4], message: &[Lanes<N>; 16]) -> [Lanes<N>; 4] {
    let [first, second, third, fourth] = &SINES;
    let mut words = before;
    words = round::<N, 0, 1, 7, 12, 17, 22>(words, message, first, |x, y, z| (x & y) | (!x & z));
    words = round::<N, 1, 5, 5, 9, 14, 20>(words, message, second, |x, y, z| (x & z) | (y & !z));
    words = round::<N, 5, 3, 4, 11, 16, 23>(words, message, third, |x, y, z| x ^ y ^ z);
    words = round::<N, 0, 7, 6, 10, 15, 21>(words, message, fourth, |x, y, z| y ^ (x | !z));
    for (word, before) in words.iter_mut().zip(before) {
        *word = each(*word, before, before, |word, before, _| word.wrapping_add(before));
    }
    words
}

/// Sixteen steps: they take the words of the message from `START` on, each `STRIDE` after the one before.
#[inline(always)]
fn round<
    const N: usize,
    const START: usize,
    const STRIDE: usize,
    const A: u32,
    const B: u32,
    const C: u32,
    const D: u32,
>(
    words: [Lanes<N>; 4],
    message: &[Lanes<N>; 16],
    sines: &[[u32; 4]; 4],
    mix: impl Fn(u32, u32, u32) -> u32 + Copy,
) -> [Lanes<N>; 4] {
    let [mut a, mut b, mut c, mut d] = words;
    for (four, [one, two, three, last]) in sines.iter().enumerate() {
        let word = |step: usize| {
            let place = (START + STRIDE * (4 * four + step)) % 16;
            message.get(place).copied().unwrap_or([0; N])
        };
        a = step::<N, A>(a, each(b, c, d, mix), b, word(0), *one);
        d = step::<N, B>(d, each(a, b, c, mix), a, word(1), *two);
        c = step::<N, C>(c, each(d, a, b, mix), d, word(2), *three);
        b = step::<N, D>(b, each(c, d, a, mix), c, word(3), *last);
    }
    [a, b, c, d]
}

#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "every lane is one of N; written so, the steps of all lanes are woven together"
)]
fn step<const N: usize, const SHIFT: u32>(
    word: Lanes<N>,
    mixed: Lanes<N>,
    next: Lanes<N>,
    message: Lanes<N>,
    sine: u32,
) -> Lanes<N> {
    let mut out = word;
    for lane in 0..N {
        out[lane] = word[lane]
            .wrapping_add(message[lane])
            .wrapping_add(sine)
            .wrapping_add(mixed[lane])
            .rotate_left(SHIFT)
            .wrapping_add(next[lane]);
    }
    out
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "every lane is one of N")]
fn each<const N: usize>(
    x: Lanes<N>,
    y: Lanes<N>,
    z: Lanes<N>,
    of: impl Fn(u32, u32, u32) -> u32,
) -> Lanes<N> {
    let mut out = [0; N];
    for lane in 0..N {
        out[lane] = of(x[lane], y[lane], z[lane]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use md5::Digest as _;
    use proptest::prelude::*;

    fn sums<const N: usize>(bodies: [&[u8]; N]) -> [[u8; 16]; N] {
        let mut states = [Md5State::default(); N];
        let whole = bodies.map(|body| {
            let tail = body.len() % BLOCK_BYTES;
            let (blocks, tail) = body.split_at(body.len() - tail);
            [blocks, &last_blocks(tail, body.len() as u64)].concat()
        });
        advance(&mut states, &whole.each_ref().map(Vec::as_slice));
        states.map(Md5State::sum)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn bodies_side_by_side_have_the_sums_that_each_has_alone(
            bodies in (0_usize..300).prop_flat_map(|bytes| {
                proptest::collection::vec(proptest::collection::vec(any::<u8>(), bytes), LANES)
            }),
        ) {
            let alone = |body: &Vec<u8>| -> [u8; 16] { md5::Md5::digest(body).into() };
            let [a, b, c] = [&bodies[0], &bodies[1], &bodies[2]];
            prop_assert_eq!(sums([a]), [alone(a)]);
            prop_assert_eq!(sums([a, b]), [alone(a), alone(b)]);
            prop_assert_eq!(sums([a, b, c]), [alone(a), alone(b), alone(c)]);
        }
    }

    #[test]
    fn the_shortest_body_says_how_far_all_come() {
        let mut states = [Md5State::default(); 2];
        advance(&mut states, &[&[1; 128], &[2; 64]]);
        let mut alone = [Md5State::default()];
        advance(&mut alone, &[&[1; 64]]);
        assert_eq!(states[0], alone[0]);
    }
}
