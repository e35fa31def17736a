//! Comments as lists read them: with the thread that each opens, as it was shown last.

use std::sync::Arc;

use triptych_core::kv::Table;

use crate::record::render_cache::RenderCache;
use crate::record::stored::Stored;
use crate::resource::channels::record::Channel;
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{Comment, ReplyCounts};
use crate::resource::comments::text::TextForm;

/// Bytes of a thread as it is shown, as text and indented.
const SHOWN_BYTES: usize = 4_096;

/// Comments by their id.
pub const LISTED_COMMENTS: Table<String, ListedComment> = Table::new(0x40);

/// A comment as lists read it.
pub type ListedComment = RenderCache<Comment, Arc<ThreadInput>, SHOWN_BYTES>;

/// Everything that a thread follows from beside its first comment, for whoever has no channel.
#[derive(Debug)]
pub struct ThreadInput {
    /// The parts.
    pub parts: Vec<&'static str>,
    /// The form of texts.
    pub text: TextForm,
    /// The state of the replies that it holds.
    pub state: Moderation,
    /// Number of replies.
    pub counts: ReplyCounts,
    /// True if others than the owner see what it is about.
    pub is_shown: bool,
    /// True if it can be commented on.
    pub is_open: bool,
    /// The replies that it holds.
    pub replies: Vec<(String, Arc<ListedComment>)>,
    /// The authors of its first comment and of these replies; none for those who closed their account.
    pub authors: Vec<Option<Arc<Stored<Channel>>>>,
}

impl ThreadInput {
    /// Returns whether a thread that follows from either is the same. A row that was written anew is another.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let form = |of: &Self| (of.text, of.state, of.counts, of.is_shown, of.is_open);
        let same_replies = self
            .replies
            .iter()
            .zip(&other.replies)
            .all(|(one, other)| Arc::ptr_eq(&one.1, &other.1));
        let same_authors = self.authors.iter().zip(&other.authors).all(|pair| match pair {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        });
        form(self) == form(other)
            && self.parts == other.parts
            && self.replies.len() == other.replies.len()
            && self.authors.len() == other.authors.len()
            && same_replies
            && same_authors
    }
}
