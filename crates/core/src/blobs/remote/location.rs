//! The place of an object store: a URL without a secret in it, and credentials from the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::limit::LimitStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt as _, RetryConfig};
use url::Url;

use super::fault::sentence;
use super::{Bucket, IDENTITY};
use crate::blobs::BlobError;

/// Requests at once: what a service may have open to one store.
const REQUESTS_MAX: usize = 128;
/// Time for a connection to the store.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Time for one request of at most a part, unless the URL says otherwise.
const REQUEST_MAX: Duration = Duration::from_secs(30);
/// Times that a request is made again.
const RETRIES_MAX: usize = 3;

/// A kind of store, with the environment variables that its credentials come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    S3,
    Google,
    Azure,
    File,
}

/// The schemes of URLs.
const KINDS: [(&str, Kind); 4] =
    [("s3", Kind::S3), ("gs", Kind::Google), ("az", Kind::Azure), ("file", Kind::File)];

/// The place of bodies: `s3://bucket/prefix?endpoint=...`, and the same with `gs`, `az` and `file`.
#[derive(Clone)]
pub struct Location {
    kind: Kind,
    bucket: String,
    prefix: String,
    /// The URL of a server that is not the provider's own.
    endpoint: Option<String>,
    region: Option<String>,
    account: Option<String>,
    /// Set for a bucket that is part of the host name.
    is_virtual_host: bool,
    is_anonymous: bool,
    request_max: Duration,
    /// The key and its secret, where they do not come from the environment.
    key: Option<(String, String)>,
}

/// Reasons for which an object store cannot be used. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// The text is no URL of a store.
    #[error(
        "{0} names no store for bodies: give s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, file:///DIRECTORY or a directory"
    )]
    Form(String),
    /// There is a user or a password in the URL.
    #[error(
        "the URL of the bodies has a user or a password in it, where others see it: give credentials in environment variables (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY)"
    )]
    Credentials,
    /// A parameter of the URL is unknown, or its value is.
    #[error(
        "{0} is no parameter of a store for bodies: endpoint (a URL), region, account, timeout-ms (a number), virtual-host (true) and anonymous (true) are"
    )]
    Parameter(String),
    /// Settings of the environment are missing, or wrong.
    #[error("the store for bodies at {location} cannot be used: {reason}")]
    Setting {
        /// Its place.
        location: String,
        /// The cause.
        reason: String,
    },
    /// There is no such bucket.
    #[error("there is no bucket at {0}: make it first, or correct --blobs")]
    Absent(String),
    /// The credentials do not let us in.
    #[error(
        "the store for bodies at {location} refuses our credentials: {reason}. They are read from the environment, and have to allow reading, writing, deleting and listing"
    )]
    Denied {
        /// Its place.
        location: String,
        /// The cause.
        reason: String,
    },
    /// It does not answer, or not as a store.
    #[error("the store for bodies at {location} cannot be reached: {reason}")]
    Unreachable {
        /// Its place.
        location: String,
        /// The cause.
        reason: String,
    },
}

impl Location {
    /// Tells whether a value of `--blobs` is a URL, and not the path of a directory.
    #[must_use]
    pub fn is_url(text: &str) -> bool {
        text.contains("://")
    }

    /// The store that a URL names.
    ///
    /// # Errors
    /// `Form`, `Credentials`, `Parameter`.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let scheme = text.split("://").next().unwrap_or_default();
        // Nothing of what cannot be read is repeated: there may be a secret in it.
        let form = || LocationError::Form(format!("{scheme}://..."));
        let url = Url::parse(text).map_err(|_| form())?;
        let kind = KINDS.iter().find(|(name, _)| *name == url.scheme()).ok_or_else(form)?.1;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(LocationError::Credentials);
        }
        let bucket = url.host_str().unwrap_or_default().to_owned();
        let prefix = Path::from_url_path(url.path()).map_err(|_| form())?;
        let is_named = if kind == Kind::File { bucket.is_empty() } else { !bucket.is_empty() };
        if !is_named || url.fragment().is_some() {
            return Err(form());
        }
        let mut location = Self {
            kind,
            bucket,
            prefix: prefix.to_string(),
            endpoint: None,
            region: None,
            account: None,
            is_virtual_host: false,
            is_anonymous: false,
            request_max: REQUEST_MAX,
            key: None,
        };
        for (name, value) in url.query_pairs() {
            location.set(&name, &value)?;
        }
        Ok(location)
    }

    /// The same store with a key of S3 that the program gives, in place of that of the environment.
    #[must_use]
    pub fn with_key(self, id: &str, secret: &str) -> Self {
        Self { key: Some((id.to_owned(), secret.to_owned())), ..self }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), LocationError> {
        let unknown = || LocationError::Parameter(name.to_owned());
        let flag = || value.parse::<bool>().map_err(|_| unknown());
        match name {
            "endpoint" => {
                let url = Url::parse(value).map_err(|_| unknown())?;
                if !url.username().is_empty() || url.password().is_some() {
                    return Err(LocationError::Credentials);
                }
                if !matches!(url.scheme(), "http" | "https") || url.query().is_some() {
                    return Err(unknown());
                }
                self.endpoint = Some(value.trim_end_matches('/').to_owned());
            }
            "region" => self.region = Some(value.to_owned()),
            "account" => self.account = Some(value.to_owned()),
            "virtual-host" => self.is_virtual_host = flag()?,
            "anonymous" => self.is_anonymous = flag()?,
            "timeout-ms" => {
                let millis = value.parse::<u64>().ok().filter(|millis| *millis > 0);
                self.request_max = Duration::from_millis(millis.ok_or_else(unknown)?);
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// The store, not yet looked at.
    ///
    /// # Errors
    /// `Setting`.
    pub(super) fn bucket(&self) -> Result<Bucket, LocationError> {
        let wrong = |error: object_store::Error| LocationError::Setting {
            location: self.to_string(),
            reason: sentence(&error),
        };
        // Where a program that embeds us has chosen another provider already, that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let built: Arc<dyn ObjectStore> = match self.kind {
            Kind::S3 => Arc::new(LimitStore::new(self.s3().map_err(wrong)?, REQUESTS_MAX)),
            Kind::Google => Arc::new(LimitStore::new(self.google().map_err(wrong)?, REQUESTS_MAX)),
            Kind::Azure => Arc::new(LimitStore::new(self.azure().map_err(wrong)?, REQUESTS_MAX)),
            Kind::File => Arc::new(self.files().map_err(wrong)?),
        };
        let prefix = if self.kind == Kind::File { "" } else { self.prefix.as_str() };
        Ok(Bucket {
            objects: built,
            prefix: Path::from(prefix),
            lists_in_order: self.kind != Kind::File,
        })
    }

    fn s3(&self) -> object_store::Result<object_store::aws::AmazonS3> {
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(&self.bucket)
            .with_client_options(self.client())
            .with_retry(self.retry())
            .with_virtual_hosted_style_request(self.is_virtual_host)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            // One DELETE costs nothing, and every server knows it.
            .with_disable_bulk_delete(true)
            .with_skip_signature(self.is_anonymous);
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let Some(region) = &self.region {
            builder = builder.with_region(region);
        }
        if let Some((id, secret)) = &self.key {
            builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        }
        builder.build()
    }

    fn google(&self) -> object_store::Result<object_store::gcp::GoogleCloudStorage> {
        let mut builder = GoogleCloudStorageBuilder::from_env()
            .with_bucket_name(&self.bucket)
            .with_client_options(self.client())
            .with_retry(self.retry())
            .with_skip_signature(self.is_anonymous);
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_config(GoogleConfigKey::BaseUrl, endpoint);
        }
        builder.build()
    }

    fn azure(&self) -> object_store::Result<object_store::azure::MicrosoftAzure> {
        let mut builder = MicrosoftAzureBuilder::from_env()
            .with_container_name(&self.bucket)
            .with_client_options(self.client())
            .with_retry(self.retry())
            .with_skip_signature(self.is_anonymous);
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint.clone());
        }
        if let Some(account) = &self.account {
            builder = builder.with_account(account);
        }
        builder.build()
    }

    fn files(&self) -> object_store::Result<LocalFileSystem> {
        let directory = PathBuf::from(format!("/{}", self.prefix));
        // A rename is no promise of the disk: each file is on it before it is there.
        Ok(LocalFileSystem::new_with_prefix(directory)?.with_fsync(true))
    }

    fn client(&self) -> ClientOptions {
        let is_plain = self.endpoint.as_deref().is_some_and(|url| url.starts_with("http://"));
        ClientOptions::new()
            .with_allow_http(is_plain)
            .with_timeout(self.request_max)
            .with_connect_timeout(CONNECT_MAX.min(self.request_max))
    }

    fn retry(&self) -> RetryConfig {
        RetryConfig {
            max_retries: RETRIES_MAX,
            retry_timeout: self.request_max,
            ..RetryConfig::default()
        }
    }

    /// The meaning of what the first look met.
    pub(super) fn refused(&self, error: &object_store::Error) -> LocationError {
        let (location, reason) = (self.to_string(), sentence(error));
        match error {
            object_store::Error::NotFound { .. } => LocationError::Absent(location),
            object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. } => {
                LocationError::Denied { location, reason }
            }
            // Errors of listings have no kinds, but the words of the client.
            _ if reason.contains("status code: 404") => LocationError::Absent(location),
            _ if reason.contains("status code: 403") => LocationError::Denied { location, reason },
            _ => LocationError::Unreachable { location, reason },
        }
    }

    /// The meaning of a store that did not come to a look.
    pub(super) fn unreachable(&self, error: &BlobError) -> LocationError {
        LocationError::Unreachable { location: self.to_string(), reason: error.to_string() }
    }
}

/// The location without its parameters.
impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = KINDS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{scheme}://{}/{}", self.bucket, self.prefix)?;
        match &self.endpoint {
            Some(endpoint) => write!(f, " on {endpoint}"),
            None => Ok(()),
        }
    }
}

impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Location({self})")
    }
}

/// Asks for the identity, which need not be there, and for the first name: that needs a bucket, and the rights to read and to list it.
pub(super) async fn look(bucket: &Bucket) -> object_store::Result<()> {
    match bucket.objects.get(&bucket.path(&[IDENTITY])).await {
        Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    bucket.objects.list(Some(&bucket.prefix)).try_next().await.map(|_| ())
}
