//! `object_store`, unmodified. On directory buckets it goes to the names of the real service whatever endpoint it is given, and they are led
//! here.

mod directory_bucket;
mod general_bucket;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{ObjectStoreExt, PutPayload};
use reqwest::header::{HOST, HeaderValue};

use crate::{http, install_provider, is_directory, variable};

const PART: usize = 5 * 1024 * 1024;

const CONFIGURATION: &str = "<CreateBucketConfiguration><Location><Name>use1-az4</Name><Type>AvailabilityZone</Type></Location>\
     <Bucket><DataRedundancy>SingleAvailabilityZone</DataRedundancy><Type>Directory</Type></Bucket></CreateBucketConfiguration>";

/// The sessions that were asked for.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

fn text(text: &'static str) -> PutPayload {
    PutPayload::from_static(text.as_bytes())
}

async fn read(store: &AmazonS3, path: &Path) -> Vec<u8> {
    store.get(path).await.unwrap().bytes().await.unwrap().to_vec()
}

/// A client of the bucket, without an endpoint yet.
fn builder(bucket: &str) -> AmazonS3Builder {
    install_provider();
    AmazonS3Builder::new()
        .with_region(variable("REGION"))
        .with_bucket_name(bucket)
        .with_access_key_id(variable("ACCESS_KEY"))
        .with_secret_access_key(variable("SECRET_KEY"))
}

/// A client of a bucket in a path.
fn in_path(bucket: &str) -> AmazonS3Builder {
    builder(bucket).with_endpoint(variable("URL")).with_allow_http(true)
}

/// A client of a directory bucket.
fn zonal(bucket: &str) -> AmazonS3Builder {
    builder(bucket).with_s3_express(true).with_http_connector(Names)
}

/// Makes a bucket, of the kind that its name says; the client makes none, but it signs.
async fn make(bucket: &str) {
    let own = in_path(bucket).build().unwrap();
    let put = reqwest::Method::PUT;
    let url = own.signed_url(put, &Path::from(""), Duration::from_secs(60)).await.unwrap();
    let document = if is_directory(bucket) { CONFIGURATION } else { "" };
    let made = http().put(url).body(document).send().await.unwrap();
    // One that an earlier run made is taken as it is.
    let is_there = [200, 409].contains(&made.status().as_u16());
    assert!(is_there, "{}", made.text().await.unwrap());
}

/// Stands for the names of the real service: what goes to one of them comes to the service under test, with its name.
#[derive(Debug)]
struct Names;

impl HttpConnector for Names {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Led(HttpClient::new(reqwest::Client::new()))))
    }
}

#[derive(Debug)]
struct Led(HttpClient);

impl HttpService for Led {
    fn call<'life0, 'async_trait>(
        &'life0 self,
        mut request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let uri = request.uri().clone();
        let host = HeaderValue::from_str(uri.host().unwrap()).unwrap();
        let target = uri.path_and_query().unwrap().as_str();
        if target.ends_with("?session") {
            SESSIONS.fetch_add(1, Ordering::Relaxed);
        }
        *request.uri_mut() = format!("{}{target}", variable("URL")).parse().unwrap();
        request.headers_mut().insert(HOST, host);
        Box::pin(self.0.execute(request))
    }
}
