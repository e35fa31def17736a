//! A translator over HTTP that speaks the protocol of LibreTranslate: `POST /translate` with a list of texts.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpStream;
use triptych_core::cache::Cache;

use crate::caption::translation::{TranslateError, Translating, Translator};

/// Bytes of an answer at most.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the translations that are kept.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// A LibreTranslate server, and what it answered lately.
pub struct LibreTranslate {
    authority: String,
    path: String,
    api_key: Option<String>,
    timeout: Duration,
    cache: Mutex<Cache<[u8; 32], String>>,
}

impl std::fmt::Debug for LibreTranslate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LibreTranslate").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl LibreTranslate {
    /// The server at `url`, which is given `timeout` for each list of texts.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the address.
    pub fn new(url: &str, api_key: Option<String>, timeout: Duration) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{url} is no address: {error}"))?;
        if uri.scheme_str() != Some("http") {
            return Err(format!("{url} is no address of a translator: http://HOST:PORT"));
        }
        let path = uri.path().trim_end_matches('/');
        let authority = uri.authority().ok_or_else(|| format!("{url} names no host"))?;
        if uri.query().is_some() || authority.as_str().contains('@') || path.ends_with("/translate")
        {
            return Err(format!(
                "{url} is no address of a translator: http://HOST:PORT, and a path below which its /translate stands, if it has one"
            ));
        }
        let authority = match authority.port_u16() {
            Some(_) => authority.as_str().to_owned(),
            None => format!("{}:80", authority.host()),
        };
        let path = format!("{path}/translate");
        let cache = Mutex::new(Cache::new(CACHE_BYTES));
        Ok(Self { authority, path, api_key, timeout, cache })
    }

    /// Translations of texts that are not kept.
    async fn ask(
        &self,
        texts: &[&String],
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, TranslateError> {
        let mut body = json!({"q": texts, "source": from, "target": to, "format": "text"});
        if let (Some(key), Some(map)) = (&self.api_key, body.as_object_mut()) {
            map.insert("api_key".into(), key.clone().into());
        }
        let answer = self.post(body.to_string().into());
        let answer = tokio::time::timeout(self.timeout, answer).await;
        let answer = answer
            .map_err(|_| TranslateError::Unreachable("it did not answer in time".into()))??;
        let answer: Value = serde_json::from_slice(&answer)
            .map_err(|_| TranslateError::Unreadable("it is no JSON"))?;
        let list = answer.get("translatedText").and_then(Value::as_array);
        let list = list.ok_or(TranslateError::Unreadable("it has no list of translations"))?;
        let list: Option<Vec<_>> =
            list.iter().map(|text| text.as_str().map(str::to_owned)).collect();
        list.filter(|list| list.len() == texts.len())
            .ok_or(TranslateError::Unreadable("it has not one translation for each text"))
    }

    async fn post(&self, body: Bytes) -> Result<Bytes, TranslateError> {
        let unreachable =
            |error: &dyn std::fmt::Display| TranslateError::Unreachable(error.to_string());
        let stream =
            TcpStream::connect(&self.authority).await.map_err(|error| unreachable(&error))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| unreachable(&error))?;
        let request = Request::post(&self.path)
            .header(header::HOST, &self.authority)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONNECTION, "close")
            .body(Full::new(body))
            .map_err(|error| unreachable(&error))?;
        let exchange = async {
            let answer = sender.send_request(request).await.map_err(|error| unreachable(&error))?;
            let status = answer.status().as_u16();
            if status != 200 {
                return Err(TranslateError::Refused(status));
            }
            let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
            body.map(http_body_util::Collected::to_bytes).map_err(|error| unreachable(&error))
        };
        // The connection is driven here, so that it ends with the request, also where that is given up.
        let mut connection = std::pin::pin!(connection);
        let mut exchange = std::pin::pin!(exchange);
        tokio::select! {
            biased;
            answer = &mut exchange => answer,
            ended = &mut connection => match ended {
                Ok(()) => exchange.await,
                Err(error) => Err(unreachable(&error)),
            },
        }
    }

    async fn translate_all(
        &self,
        texts: &[String],
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, TranslateError> {
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| key(text, from, to)).collect();
        let mut found: Vec<Option<String>> = {
            let mut cache = self.cache.lock();
            keys.iter().map(|key| cache.get(key)).collect()
        };
        let missing: Vec<&String> = texts
            .iter()
            .zip(&found)
            .filter(|(_, found)| found.is_none())
            .map(|(text, _)| text)
            .collect();
        if !missing.is_empty() {
            let translated = self.ask_in(&missing, from, to).await?;
            let mut translated = translated.into_iter();
            let mut cache = self.cache.lock();
            for (key, place) in keys.iter().zip(&mut found).filter(|(_, place)| place.is_none()) {
                *place = translated.next();
                if let Some(text) = place {
                    cache.insert(*key, text.clone(), 64 + text.len());
                }
            }
        }
        Ok(found.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Asks for the language with its region, and where that is refused for the language alone.
    async fn ask_in(
        &self,
        texts: &[&String],
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, TranslateError> {
        let (from, language) = (primary(from), primary(to));
        match self.ask(texts, from, to).await {
            Err(TranslateError::Refused(400)) if language != to => {
                self.ask(texts, from, language).await
            }
            answer => answer,
        }
    }
}

/// The language of a tag, without its region.
fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

fn key(text: &str, from: &str, to: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [from, to, text] {
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

impl Translator for LibreTranslate {
    fn translate<'t>(&'t self, texts: &'t [String], from: &'t str, to: &'t str) -> Translating<'t> {
        Box::pin(self.translate_all(texts, from, to))
    }
}
