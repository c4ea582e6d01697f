#[cfg(feature = "__tls")]
use std::path::PathBuf;

use crate::config::Config;

#[cfg(feature = "__tls")]
fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/redisson")).join(name)
}

fn error(yaml: &str) -> String {
    Config::from_redisson(yaml).and_then(|config| config.check()).expect_err("it cannot be used").to_string()
}

/// Reads a file with a URL, and an option in each line after it.
#[cfg(feature = "__tls")]
fn written(name: &str) -> Config {
    let text = std::fs::read_to_string(file(name)).expect("it is there");
    let mut lines = text.lines();
    let mut config = Config::from_url(lines.next().expect("a URL")).expect("it is one");
    for (option, value) in lines.map(|line| line.split_once('=').expect("an option")) {
        config.set(option, value).expect("a value of it");
    }
    config
}

/// A test of the Java binding reads the same files, and compares them with the same texts.
#[cfg(feature = "__tls")]
#[test]
fn a_file_means_what_is_written_beside_it() {
    for name in ["single.yaml", "cluster.yaml", "sentinel.yaml", "replicated.json", "master-slave.yaml"] {
        let read = Config::from_redisson_file(file(name)).expect("it can be read");
        let stem = name.split('.').next().expect("it has one");
        assert!(read == written(&format!("{stem}.txt")), "{name}");
    }
}

#[test]
fn retries_go_on_for_as_long_as_the_delays_add_up_to() {
    let retry_for = |settings: &str| {
        let yaml = format!("singleServerConfig: {{address: 'redis://h', {settings}}}");
        Config::from_redisson(&yaml).expect("it can be read").retry_for.as_secs_f64()
    };
    let class = |name: &str, inside: &str| format!("retryDelay: !<org.redisson.config.{name}> {{{inside}}}");
    assert_eq!(retry_for(""), 0.75 * (1.0 + 2.0 + 2.0 + 2.0));
    assert_eq!(retry_for("retryInterval: 200, retryAttempts: 5"), 1.0);
    assert_eq!(
        retry_for(&(class("FullJitterDelay", "baseDelay: PT1S, maxDelay: PT1H") + ", retryAttempts: 3")),
        0.5 * (1.0 + 2.0 + 4.0)
    );
    assert_eq!(retry_for(&(class("EqualJitterDelay", "baseDelay: PT4S, maxDelay: PT1S") + ", retryAttempts: 2")), 1.5);
    assert_eq!(
        retry_for(&(class("DecorrelatedJitterDelay", "minDelay: PT1S, maxDelay: PT4S") + ", retryAttempts: 2")),
        2.0 + 2.5
    );
}

#[test]
fn the_error_of_a_bad_setting_names_it_and_the_remedy() {
    let server = |settings: &str| format!("singleServerConfig: {{address: 'redis://h', {settings}}}");
    let top = |settings: &str| format!("singleServerConfig: {{address: 'redis://h'}}\n{settings}");
    for (yaml, words) in [
        ("threads: 4".to_owned(), &["names no servers", "singleServerConfig"][..]),
        ("[1, 2]".to_owned(), &["no names and values"]),
        ("singleServerConfig: {".to_owned(), &["line 2"]),
        ("singleServerConfig: 7".to_owned(), &["singleServerConfig is no map"]),
        ("singleServerConfig: {}".to_owned(), &["singleServerConfig.address is missing"]),
        ("singleServerConfig: {address: 'h:6379'}".to_owned(), &["redis://host:6379"]),
        (
            top("clusterServersConfig: {nodeAddresses: ['redis://a']}"),
            &["both singleServerConfig and clusterServersConfig"],
        ),
        (
            "clusterServersConfig: {nodeAddresses: ['redis://a', 'rediss://u:secret@b']}".to_owned(),
            &["…@b`", "another one than the first"],
        ),
        ("clusterServersConfig: {nodeAddresses: [[a]]}".to_owned(), &["nodeAddresses is a list", "a list of texts"]),
        ("clusterServersConfig: {nodeAddresses: 'redis://a', database: 1}".to_owned(), &["the database is 1"]),
        ("sentinelServersConfig: {sentinelAddresses: 'redis://a'}".to_owned(), &["masterName is missing"]),
        (server("timeout: abc"), &["singleServerConfig.timeout is `abc`", "a whole number"]),
        (server("timeout: 0"), &["singleServerConfig.timeout is 0 ms", "from 1"]),
        (server("timeout: 089"), &["timeout is `089`"]),
        (server("retryAttempts: -1"), &["retryAttempts is `-1`", "from 0"]),
        (server("clientName: two words"), &["client_name"]),
        (server("clientName: [a]"), &["clientName is a list"]),
        (
            "clusterServersConfig: {nodeAddresses: 'redis://a', natMapper: !<com.example.Mine> {}}".to_owned(),
            &["natMapper is a `com.example.Mine`", "HostPortNatMapper"],
        ),
        (
            "clusterServersConfig: {nodeAddresses: 'redis://a', natMap: {a: 'b:1'}}".to_owned(),
            &["the nat `a=b:1`", "told=meant"],
        ),
        (server("retryDelay: {delay: PT1S}"), &["retryDelay is a map", "a tag"]),
        (server("retryDelay: !<org.redisson.config.ConstantDelay> {}"), &["retryDelay.delay is missing", "PT1.5S"]),
        (server("retryDelay: !<ConstantDelay> {delay: 5}"), &["retryDelay.delay is `5`", "PT1.5S"]),
        (server("retryDelay: !<ConstantDelay> {delay: PT}"), &["retryDelay.delay is `PT`"]),
        (server("retryDelay: !<ConstantDelay> {delay: PT1H2}"), &["retryDelay.delay is `PT1H2`"]),
        (server("retryDelay: !<com.example.Mine> {}"), &["retryDelay is a `com.example.Mine`", "ConstantDelay"]),
        (
            server("nameMapper: !<com.example.Mine> {}"),
            &["singleServerConfig.nameMapper is a `com.example.Mine`", "prefix"],
        ),
        (top("nameMapper: {class: com.example.Mine}"), &["nameMapper is a `com.example.Mine`", "prefix"]),
        (
            top("credentialsResolver: !<com.example.Mine> {}"),
            &["credentialsResolver is a `com.example.Mine`", "password"],
        ),
        (top("commandMapper: !<com.example.Mine> {}"), &["commandMapper is a `com.example.Mine`", "leave it out"]),
        (top("sslCiphers: [TLS_X]"), &["sslCiphers is a list", "leave it out"]),
        (top("lockWatchdogTimeout: {a: 1}"), &["lockWatchdogTimeout is a map"]),
        (top("lockWatchdogTimeout: 99"), &["lockWatchdogTimeout is 99 ms", "from 100"]),
        (top("checkLockSyncedSlaves: {}"), &["checkLockSyncedSlaves is a map"]),
    ] {
        let said = error(&yaml);
        assert!(words.iter().all(|word| said.contains(word)), "{yaml}: {words:?} in: {said}");
        assert!(!said.contains("secret"), "{said}");
    }
    let missing = Config::from_redisson_file("/no/such.yaml").map(drop).expect_err("it is not there").to_string();
    assert!(missing.contains("`/no/such.yaml`"), "{missing}");
}

#[cfg(feature = "__tls")]
#[test]
fn a_java_key_store_is_refused_unless_an_option_names_a_pem_file() {
    let yaml = |settings: &str| format!("singleServerConfig: {{address: 'rediss://h'}}\n{settings}");
    let folder = std::env::temp_dir().join(format!("redlatch-stores-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the disk has room");
    let store = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("the disk has room");
        path.display().to_string()
    };
    let jks = store("a.jks", &[0xfe, 0xed, 0xfe, 0xed, 0]);
    let p12 = store("a.p12", &[0x30, 0x82, 1, 0]);
    for (text, words) in [
        (format!("sslTruststore: file:{jks}"), [&*jks, "(JKS)", "tls_ca"]),
        (format!("sslTruststore: file://{p12}"), [&*p12, "(PKCS12)", "PEM"]),
        (format!("sslKeystore: {p12}"), [&*p12, "tls_cert and tls_key", "PEM"]),
        (
            "sslTruststore: file:/no/such%20file.pem".to_owned(),
            ["/no/such file.pem", "sslTruststore", "cannot be read"],
        ),
        ("sslTruststore: https://h/ca.pem".to_owned(), ["https://h/ca.pem", "PEM", "file:"]),
        ("sslVerificationMode: MAYBE".to_owned(), ["sslVerificationMode is `MAYBE`", "CA_ONLY", "NONE"]),
    ] {
        let said = error(&yaml(&text));
        assert!(words.iter().all(|word| said.contains(word)), "{words:?} in: {said}");
    }
    let mut config =
        Config::from_redisson(&yaml(&format!("sslTruststore: file:{jks}"))).expect("another may take its place");
    config.check().expect_err("none has");
    let ca = store("ca.pem", PEM.as_bytes());
    config.set("tls_ca", &ca).expect("it is PEM").check().expect("now one has");
    let trusting = Config::from_redisson(&yaml(&format!("sslTruststore: file:{ca}"))).expect("it can be read");
    trusting.check().expect("it is PEM");
    assert_eq!(trusting.tls.ca.as_deref(), Some(PEM.as_bytes()));
    // Without TLS the client does not need the missing file.
    Config::from_redisson("singleServerConfig: {address: 'redis://h'}\nsslTruststore: file:/gone")
        .expect("read")
        .check()
        .expect("usable");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// An authority that signs nothing.
#[cfg(feature = "__tls")]
const PEM: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBbzCCARWgAwIBAgIUVmmffGHJyhy4EvcDWa9OuFchixAwCgYIKoZIzj0EAwIw\n\
DDEKMAgGA1UEAwwBYTAgFw0yNjExMjQyMTE2MTBaGA8yMTI2MTAzMTIxMTYxMFow\n\
DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPBXODFHrmR/\n\
960uHOUrENm8P62RXAiE95AjqxUSKoY1g1cIs8OjOq8WGSJoK5AXw8OpebhrHk+H\n\
yGBC0jsmKfyjUzBRMB0GA1UdDgQWBBRQg7J/7UX29cuPlDEmo8WSjRTvtDAfBgNV\n\
HSMEGDAWgBRQg7J/7UX29cuPlDEmo8WSjRTvtDAPBgNVHRMBAf8EBTADAQH/MAoG\n\
CCqGSM49BAMCA0gAMEUCIQDxyMW2FMGoIhoZ1vzMmBqW8Ur5oY2xWSNpLh02FJRq\n\
5wIgc2S7hC0p4Ko7rxbAZielLFUp2yBstWTCcLS4WYS6x4w=\n\
-----END CERTIFICATE-----\n\
";
