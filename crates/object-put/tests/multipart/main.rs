//! Uploads in parts over HTTP: what each operation answers, and what it refuses.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod checksums;
mod completion;
mod parts;
#[path = "../service/mod.rs"]
mod service;

use md5::{Digest as _, Md5};
use object_put::body::checksum::{Algorithm, Hasher};
use service::{Answer, Draft, World};

/// An upload of the key that its target names.
struct Upload<'w> {
    world: &'w World,
    target: String,
    id: String,
}

impl<'w> Upload<'w> {
    async fn begin(world: &'w World, target: &str, headers: &[(&str, &str)]) -> Upload<'w> {
        let mut draft = Draft::new("POST", &format!("{target}?uploads"), b"");
        for (name, value) in headers {
            draft = draft.with(name, *value);
        }
        let answer = world.send(&draft).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let id = answer.element("UploadId").unwrap();
        Upload { world, target: target.to_owned(), id }
    }

    fn part(&self, number: &str, body: &[u8]) -> Draft {
        Draft::put(&format!("{}?partNumber={number}&uploadId={}", self.target, self.id), body)
    }

    /// Puts a part that is taken; gives its entity tag.
    async fn put(&self, number: u32, body: &[u8]) -> String {
        let answer = self.world.send(&self.part(&number.to_string(), body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.header("etag").unwrap().trim_matches('"').to_owned()
    }

    fn completion(&self, parts: &[(u32, &str)]) -> Draft {
        let parts = parts.iter().map(|(number, tag)| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>&quot;{tag}&quot;</ETag></Part>")
        });
        self.completion_of(&parts.collect::<String>())
    }

    fn completion_of(&self, parts: &str) -> Draft {
        let document = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let target = format!("{}?uploadId={}", self.target, self.id);
        Draft::new("POST", &target, document.as_bytes())
    }

    async fn complete(&self, parts: &[(u32, &str)]) -> Answer {
        self.world.send(&self.completion(parts)).await
    }

    async fn complete_with(&self, parts: String) -> Answer {
        self.world.send(&self.completion_of(&parts)).await
    }

    async fn abort(&self) -> Answer {
        let target = format!("{}?uploadId={}", self.target, self.id);
        self.world.send(&Draft::new("DELETE", &target, b"")).await
    }
}

fn md5(bytes: &[u8]) -> String {
    hex::encode(Md5::digest(bytes))
}

fn tag_of(parts: &[&[u8]]) -> String {
    let all: Vec<u8> = parts.iter().flat_map(Md5::digest).collect();
    format!("{}-{}", md5(&all), parts.len())
}

fn checksum(algorithm: Algorithm, bytes: &[u8]) -> Vec<u8> {
    let mut hasher = Hasher::new(algorithm);
    hasher.feed(bytes);
    hasher.finish().value
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

fn refused(answer: &Answer, status: u16, code: &str, message: &str) {
    let own = (answer.status, answer.element("Code"), answer.element("Message"));
    assert_eq!(own, (status, Some(code.to_owned()), Some(message.to_owned())));
}
