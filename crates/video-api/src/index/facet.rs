//! Properties of documents that have postings of their own, beside the words of their texts.

/// Duration of a video, in the classes of the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationClass {
    /// Less than four minutes.
    Short,
    /// Four to twenty minutes.
    Medium,
    /// More than twenty minutes.
    Long,
}

impl DurationClass {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Short, Self::Medium, Self::Long];

    /// Its name, as `videoDuration` says it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Medium => "medium",
            Self::Long => "long",
        }
    }

    /// The class of a length in milliseconds.
    #[must_use]
    pub const fn of(duration_ms: u64) -> Self {
        match duration_ms {
            0..240_000 => Self::Short,
            240_000..=1_200_000 => Self::Medium,
            _ => Self::Long,
        }
    }
}

/// A word under which documents are found that have something in common besides their text. No text has it: words hold no
/// control characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet<'f> {
    /// Of this channel.
    Channel(&'f str),
    /// Of this category.
    Category(&'f str),
    /// As long as this: the name of its class.
    Duration(&'f str),
    /// Of 720 lines or more, or of less.
    Definition(bool),
    /// With captions.
    Captions,
    /// In 3D.
    ThreeD,
    /// Under Creative Commons.
    CreativeCommons,
    /// With somebody who paid for what is shown.
    Sponsored,
    /// A broadcast in this state.
    Broadcast(&'f str),
    /// A film or an episode.
    Form(&'f str),
    /// Made at a known place.
    Place,
    /// On this topic.
    Topic(&'f str),
    /// Not to be viewed in this region.
    Blocked(&'f str),
    /// For adults.
    Restricted,
}

impl Facet<'_> {
    /// The word.
    #[must_use]
    pub fn word(self) -> String {
        let (name, value) = match self {
            Self::Channel(id) => ("channel", id),
            Self::Category(id) => ("category", id),
            Self::Duration(class) => ("length", class),
            Self::Definition(true) => ("definition", "high"),
            Self::Definition(false) => ("definition", "standard"),
            Self::Captions => ("captions", ""),
            Self::ThreeD => ("3d", ""),
            Self::CreativeCommons => ("commons", ""),
            Self::Sponsored => ("sponsored", ""),
            Self::Broadcast(state) => ("broadcast", state),
            Self::Form(form) => ("form", form),
            Self::Place => ("place", ""),
            Self::Topic(id) => ("topic", id),
            Self::Blocked(region) => ("blocked", region),
            Self::Restricted => ("restricted", ""),
        };
        format!("\u{1}{name} {value}")
    }
}
