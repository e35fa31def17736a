//! Small real files for tests: a muxer that writes headers and a few bytes in the place of pictures.

/// An MP4 or QuickTime file.
#[derive(Debug, Clone, Copy)]
pub struct Mp4 {
    /// The major brand: `isom`, or `qt  ` for QuickTime.
    pub brand: [u8; 4],
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// Length in milliseconds.
    pub duration_ms: u32,
    /// True if the index comes after the pictures.
    pub moov_last: bool,
    /// True if boxes say their size in 64 bits.
    pub large_sizes: bool,
    /// Rotation: 0 or 90.
    pub rotation: u16,
    /// Number of fragments; 0 for a file in one.
    pub fragments: u32,
    /// True if it has pictures at all.
    pub video: bool,
}

impl Mp4 {
    /// A plain file, 30 pictures a second, with stereo sound.
    #[must_use]
    pub const fn new(width: u16, height: u16, duration_ms: u32) -> Self {
        Self {
            brand: *b"isom",
            width,
            height,
            duration_ms,
            moov_last: false,
            large_sizes: false,
            rotation: 0,
            fragments: 0,
            video: true,
        }
    }

    /// The file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let ftyp = self.boxed(b"ftyp", &[self.brand.as_slice(), &[0; 4], b"mp42"]);
        let mdat = self.boxed(b"mdat", &[&[0x55; 64]]);
        let moov = self.moov();
        if self.fragments > 0 {
            let mut file = [ftyp, moov].concat();
            for number in 0..self.fragments {
                file.extend(self.fragment(number));
                file.extend_from_slice(&mdat);
            }
            return file;
        }
        if self.moov_last { [ftyp, mdat, moov].concat() } else { [ftyp, moov, mdat].concat() }
    }

    fn boxed(&self, name: &[u8; 4], content: &[&[u8]]) -> Vec<u8> {
        let content = content.concat();
        let mut out = Vec::new();
        if self.large_sizes {
            out.extend_from_slice(&1_u32.to_be_bytes());
            out.extend_from_slice(name);
            out.extend_from_slice(&(content.len() as u64 + 16).to_be_bytes());
        } else {
            out.extend_from_slice(
                &u32::try_from(content.len() + 8).unwrap_or(u32::MAX).to_be_bytes(),
            );
            out.extend_from_slice(name);
        }
        out.extend(content);
        out
    }

    /// The times of a header, in milliseconds.
    fn times(&self) -> Vec<u8> {
        let created: u32 = 1_700_000_000 + 2_082_844_800;
        let duration = if self.fragments > 0 { 0 } else { self.duration_ms };
        [0, created, created, 1000, duration]
            .iter()
            .flat_map(|word: &u32| word.to_be_bytes())
            .collect()
    }

    fn moov(&self) -> Vec<u8> {
        let mvhd = self.boxed(b"mvhd", &[&self.times(), &[0; 80]]);
        let video = if self.video { self.track(1, b"vide") } else { Vec::new() };
        let audio = self.track(2, b"soun");
        let trex = self.boxed(
            b"trex",
            &[&[0; 4], &1_u32.to_be_bytes(), &1_u32.to_be_bytes(), &1_u32.to_be_bytes(), &[0; 8]],
        );
        let mvex = if self.fragments > 0 { self.boxed(b"mvex", &[&trex]) } else { Vec::new() };
        self.boxed(b"moov", &[&mvhd, &video, &audio, &mvex])
    }

    fn track(&self, id: u32, kind: &[u8; 4]) -> Vec<u8> {
        let is_video = kind == b"vide";
        let one = 0x1_0000_u32;
        let matrix = if self.rotation == 90 {
            [0, one, 0, one.wrapping_neg(), 0, 0, 0, 0, 0x4000_0000]
        } else {
            [one, 0, 0, 0, one, 0, 0, 0, 0x4000_0000]
        };
        let matrix: Vec<u8> = matrix.iter().flat_map(|word| word.to_be_bytes()).collect();
        let size = |pixels: u16| (u32::from(if is_video { pixels } else { 0 }) << 16).to_be_bytes();
        let tkhd = self.boxed(
            b"tkhd",
            &[
                &[0; 12],
                &id.to_be_bytes(),
                &[0; 24],
                &matrix,
                &size(self.width),
                &size(self.height),
            ],
        );
        let mdhd = self.boxed(b"mdhd", &[&self.times(), &[0; 4]]);
        let hdlr = self.boxed(b"hdlr", &[&[0; 8], kind, &[0; 12]]);
        let entry = if is_video {
            self.boxed(
                b"avc1",
                &[&[0; 24], &self.width.to_be_bytes(), &self.height.to_be_bytes(), &[0; 50]],
            )
        } else {
            self.boxed(b"mp4a", &[&[0; 16], &2_u16.to_be_bytes(), &[0; 10]])
        };
        let stsd = self.boxed(b"stsd", &[&[0; 4], &1_u32.to_be_bytes(), &entry]);
        let samples = self.duration_ms * 30 / 1000;
        let stsz = self.boxed(b"stsz", &[&[0; 8], &samples.to_be_bytes()]);
        let stbl = self.boxed(b"stbl", &[&stsd, &stsz]);
        let minf = self.boxed(b"minf", &[&stbl]);
        let mdia = self.boxed(b"mdia", &[&mdhd, &hdlr, &minf]);
        self.boxed(b"trak", &[&tkhd, &mdia])
    }

    /// The fragment `number`: it starts where the one before ended; its samples say how long they are every other time.
    fn fragment(&self, number: u32) -> Vec<u8> {
        let length = self.duration_ms / self.fragments.max(1);
        let tfhd = self
            .boxed(b"tfhd", &[&8_u32.to_be_bytes(), &1_u32.to_be_bytes(), &length.to_be_bytes()]);
        let tfdt = self.boxed(b"tfdt", &[&[0; 4], &(number * length).to_be_bytes()]);
        let trun = if number.is_multiple_of(2) {
            self.boxed(b"trun", &[&0_u32.to_be_bytes(), &1_u32.to_be_bytes()])
        } else {
            self.boxed(
                b"trun",
                &[
                    &0x301_u32.to_be_bytes(),
                    &1_u32.to_be_bytes(),
                    &[0; 4],
                    &length.to_be_bytes(),
                    &64_u32.to_be_bytes(),
                ],
            )
        };
        let traf = self.boxed(b"traf", &[&tfhd, &tfdt, &trun]);
        let mfhd = self.boxed(b"mfhd", &[&[0; 8]]);
        self.boxed(b"moof", &[&mfhd, &traf])
    }
}

/// A WebM or Matroska file.
#[derive(Debug, Clone, Copy)]
pub struct Matroska {
    /// `webm` or `matroska`.
    pub doc_type: &'static str,
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// Length in milliseconds.
    pub duration_ms: u32,
    /// True if the segment and its clusters do not say where they end, as a live recording's do not.
    pub unknown_sizes: bool,
    /// True if the header says how long the file is.
    pub says_duration: bool,
}

impl Matroska {
    /// A plain file with stereo sound.
    #[must_use]
    pub const fn new(width: u16, height: u16, duration_ms: u32) -> Self {
        Self {
            doc_type: "webm",
            width,
            height,
            duration_ms,
            unknown_sizes: false,
            says_duration: true,
        }
    }

    /// The file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let header =
            element(&[0x1A, 0x45, 0xDF, 0xA3], &element(&[0x42, 0x82], self.doc_type.as_bytes()));
        let mut info = element(&[0x2A, 0xD7, 0xB1], &1_000_000_u32.to_be_bytes());
        if self.says_duration {
            info.extend(element(&[0x44, 0x89], &f64::from(self.duration_ms).to_be_bytes()));
        }
        let picture = [
            element(&[0xB0], &self.width.to_be_bytes()),
            element(&[0xBA], &self.height.to_be_bytes()),
        ]
        .concat();
        let video =
            [element(&[0x83], &[1]), element(&[0x86], b"V_VP9"), element(&[0xE0], &picture)]
                .concat();
        let audio = [
            element(&[0x83], &[2]),
            element(&[0x86], b"A_OPUS"),
            element(&[0xE1], &element(&[0x9F], &[2])),
        ]
        .concat();
        let tracks = [element(&[0xAE], &video), element(&[0xAE], &audio)].concat();
        let mut content = [
            element(&[0x15, 0x49, 0xA9, 0x66], &info),
            element(&[0x16, 0x54, 0xAE, 0x6B], &tracks),
        ]
        .concat();
        let half = self.duration_ms / 2;
        for (time, block) in
            [(0_u32, 10_u16), (half, u16::try_from(self.duration_ms - half).unwrap_or(u16::MAX))]
        {
            let mut simple = vec![0x81];
            simple.extend_from_slice(&block.to_be_bytes());
            simple.extend_from_slice(&[0x80, 0x55, 0x55]);
            let cluster =
                [element(&[0xE7], &time.to_be_bytes()), element(&[0xA3], &simple)].concat();
            content.extend(self.container(&[0x1F, 0x43, 0xB6, 0x75], &cluster));
        }
        [header, self.container(&[0x18, 0x53, 0x80, 0x67], &content)].concat()
    }

    fn container(&self, id: &[u8], content: &[u8]) -> Vec<u8> {
        if self.unknown_sizes {
            return [id, &[0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], content].concat();
        }
        element(id, content)
    }
}

fn element(id: &[u8], content: &[u8]) -> Vec<u8> {
    let size = (content.len() as u64 | 1 << 56).to_be_bytes();
    [id, size.as_slice(), content].concat()
}
