//! `aws-sdk-s3`, unmodified. On directory buckets it goes to the names of the real service, and they are led here.

mod both_buckets;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{
    BehaviorVersion, Builder, Config, Credentials, Region, StalledStreamProtectionConfig,
};
use aws_sdk_s3::error::ProvideErrorMetadata;
use aws_sdk_s3::types::{
    BucketInfo, BucketType, CreateBucketConfiguration, DataRedundancy, LocationInfo, LocationType,
};
use aws_smithy_http_client::Builder as HttpClients;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;

use crate::{is_directory, variable};

const PATIENCE: Duration = Duration::from_secs(120);

/// The sessions that were asked for.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

fn builder() -> Builder {
    let own = Credentials::builder()
        .access_key_id(variable("ACCESS_KEY"))
        .secret_access_key(variable("SECRET_KEY"))
        .provider_name("tests");
    // A machine that is busy with other tests is no reason to give up.
    let timeouts = TimeoutConfig::builder().connect_timeout(PATIENCE).build();
    Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(variable("REGION")))
        .credentials_provider(own.build())
        .timeout_config(timeouts)
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
}

/// A client of buckets in a path.
fn in_path() -> Client {
    let own = builder().endpoint_url(variable("URL")).force_path_style(true);
    Client::from_conf(own.http_client(HttpClients::new().build_http()).build())
}

/// A client of directory buckets.
fn zonal() -> Client {
    let names = Names(HttpClients::new().build_http());
    Client::from_conf(builder().http_client(SharedHttpClient::new(names)).build())
}

/// Makes a bucket, of the kind that its name says.
async fn make(client: &Client, bucket: &str) {
    let location = LocationInfo::builder().r#type(LocationType::AvailabilityZone).name("use1-az4");
    let own = BucketInfo::builder()
        .r#type(BucketType::Directory)
        .data_redundancy(DataRedundancy::SingleAvailabilityZone);
    let directory =
        CreateBucketConfiguration::builder().location(location.build()).bucket(own.build()).build();
    let create = client.create_bucket().bucket(bucket);
    let create = create.set_create_bucket_configuration(is_directory(bucket).then_some(directory));
    if let Err(error) = create.send().await {
        // One that another test or an earlier run made is taken as it is.
        assert_eq!(error.code(), Some("BucketAlreadyOwnedByYou"), "{error:?}");
    }
}

/// Stands for the names of the real service: what goes to one of them comes to the service under test, with its name.
#[derive(Debug)]
struct Names(SharedHttpClient);

impl HttpClient for Names {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Led(self.0.http_connector(settings, components)))
    }
}

#[derive(Debug)]
struct Led(SharedHttpConnector);

impl HttpConnector for Led {
    fn call(&self, mut request: HttpRequest) -> HttpConnectorFuture {
        let rest = request.uri().strip_prefix("https://").unwrap();
        let (host, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let slash = if target.starts_with('/') { "" } else { "/" };
        let (host, uri) = (host.to_owned(), format!("{}{slash}{target}", variable("URL")));
        if target.contains("session") {
            SESSIONS.fetch_add(1, Ordering::Relaxed);
        }
        request.set_uri(uri).unwrap();
        request.headers_mut().insert("host", host);
        self.0.call(request)
    }
}
