//! The methods of a configuration beside its options by name, and its texts.

use super::*;

fn plain() -> Config {
    Config::from_url("redis://h").expect("a good URL")
}

const DAY: Duration = Duration::from_secs(86_400);
const TINY: Duration = Duration::from_nanos(1);

type Method = fn(Config) -> Config;

/// A value of each option, by its name and by its method.
const SAME: [(&str, &str, Method); 17] = [
    ("username", "u", |config| config.username("u")),
    ("password", "p", |config| config.password("p")),
    ("sentinel_username", "su", |config| config.sentinel_username("su")),
    ("sentinel_password", "sp", |config| config.sentinel_password("sp")),
    ("database", "7", |config| config.database(7)),
    ("client_name", "me", |config| config.client_name("me")),
    ("prefix", "orders:", |config| config.prefix("orders:")),
    ("response_timeout", "86400", |config| config.response_timeout(DAY)),
    ("retry_for", "0.000000001", |config| config.retry_for(TINY)),
    ("connect_timeout", "86400", |config| config.connect_timeout(DAY)),
    ("flush", "0.000000001", |config| config.flush(TINY)),
    ("fair_wait", "0.000000001", |config| config.fair_wait(TINY)),
    ("turn", "0.000000001", |config| config.turn(TINY)),
    ("watchdog", "86400", |config| config.watchdog(DAY)),
    ("quarantine", "true", |config| config.quarantine(true)),
    ("sharded", "both", |config| config.sharded(Sharded::Both)),
    ("sync", "wait(replicas=2,within=0.5)", |config| {
        config.sync(SyncPolicy::Wait { replicas: 2, within: Duration::from_millis(500) })
    }),
];

#[test]
fn an_option_is_the_same_by_its_method_and_by_its_name() {
    for (option, value, method) in SAME {
        let mut named = plain();
        named.set(option, value).expect("a good option");
        assert!(named != plain() && method(plain()) == named, "{option}");
    }
    let nat = "10.0.0.1:7000=host:17000";
    let mapped = plain().nat(nat.parse().expect("a pair"));
    assert!(plain().set("nat", nat).is_ok_and(|named| *named == mapped));
}

/// Values beyond the limits of each option, by its name and by its method.
const BEYOND: [(&str, &str, Method); 11] = [
    ("database", "4294967295", |config| config.database(u32::MAX)),
    ("client_name", "two words", |config| config.client_name("two words")),
    ("response_timeout", "0.000000001", |config| config.response_timeout(TINY)),
    ("connect_timeout", "0.000000001", |config| config.connect_timeout(TINY)),
    ("retry_for", "31622400", |config| config.retry_for(366 * DAY)),
    ("flush", "31622400", |config| config.flush(366 * DAY)),
    ("fair_wait", "31622400", |config| config.fair_wait(366 * DAY)),
    ("turn", "31622400", |config| config.turn(366 * DAY)),
    ("watchdog", "0.000000001", |config| config.watchdog(TINY)),
    ("sync", "wait(replicas=0,within=1)", |config| {
        config.sync(SyncPolicy::Wait { replicas: 0, within: Duration::from_secs(1) })
    }),
    ("sync", "connected(replicas=1,within=0)", |config| {
        config.sync(SyncPolicy::Connected { replicas: 1, within: Duration::ZERO })
    }),
];

#[test]
fn a_value_beyond_the_limits_is_refused_in_the_same_words_by_method_and_by_name() {
    for (option, value, method) in BEYOND {
        let by_name = plain().set(option, value).map(drop).expect_err(option).to_string();
        let by_method = method(plain()).check().expect_err(option).to_string();
        // A policy by name also says where in the text the mistake is.
        assert!(by_name.ends_with(&by_method) || option == "sync", "{option}: {by_name}, {by_method}");
        assert!(by_method.contains(option), "{by_method}");
    }
    let long = "x".repeat(NAME_MAX + 1);
    for config in [plain().prefix(&long), plain().username(&long).password("p"), plain().password(&long)] {
        assert!(config.check().is_err_and(|error| error.to_string().contains("65537 bytes")));
    }
    let endless = SyncPolicy::Connected { replicas: 1, within: Duration::MAX };
    assert!(plain().sync(endless).check().is_err_and(|error| error.to_string().contains("a year")));
}

#[test]
fn the_text_of_a_configuration_has_its_values_and_no_secret() {
    let config = Config::from_url("redis+sentinel://u-hunter2:hunter2@h:1/m?sentinel_password=hunter2&database=3")
        .expect("a good URL")
        .sentinel_username("hunter2")
        .prefix("at@hunter2")
        .client_name("orders")
        .tls_ca("hunter2")
        .tls_cert("hunter2")
        .tls_key("hunter2")
        .watchdog(DAY);
    let text = format!("{config:?} {config:#?}");
    assert!(!text.contains("hunter2"), "{text}");
    for shown in ["redis+sentinel://h:1/m", "database: 3", "\"orders\"", "86400s", "sync: none", "sharded: Auto"] {
        assert!(text.contains(shown), "{shown} in {text}");
    }
}

#[test]
fn a_configuration_and_its_words_are_made_of_their_texts() {
    let config: Config = "redis://h?watchdog=86400".parse().expect("a good URL");
    assert!(config == plain().watchdog(DAY));
    assert!("http://h".parse::<Config>().is_err());
    for text in ["auto", "on", "off", "both"] {
        assert_eq!(text.parse::<Sharded>().expect(text).to_string(), text);
    }
    for text in ["full", "ca", "none"] {
        assert_eq!(text.parse::<TlsVerify>().expect(text).to_string(), text);
    }
}

#[cfg(feature = "__tls")]
#[test]
fn what_is_no_certificate_and_no_key_is_refused_and_not_said() {
    let secured = || Config::from_url("rediss://h").expect("a good URL");
    for (option, config) in [
        ("tls_ca", secured().tls_ca("hunter2")),
        ("tls_cert", secured().tls_cert("hunter2").tls_key("hunter2")),
        ("tls_key", secured().tls_key("hunter2")),
    ] {
        let said = config.check().expect_err(option).to_string();
        assert!(said.contains(option) && said.contains("no PEM file") && !said.contains("hunter2"), "{said}");
    }
    let said = plain().tls_verify(TlsVerify::Ca).check().expect_err("it has no use").to_string();
    assert!(said.contains("without TLS"), "{said}");
}

#[cfg(not(feature = "__tls"))]
#[test]
fn a_build_without_tls_names_the_feature_that_brings_it() {
    let secured = || Config::from_url("redis://h").expect("a good URL");
    for said in [
        Config::from_url("rediss://h").map(drop).expect_err("it has no TLS").to_string(),
        Config::from_url("rediss+cluster://h").map(drop).expect_err("it has no TLS").to_string(),
        secured().set("tls_ca", "-----BEGIN CERTIFICATE-----").map(drop).expect_err("it has no use").to_string(),
    ] {
        assert!(said.contains("tls-rustls-ring"), "{said}");
    }
}

#[test]
#[cfg(unix)]
fn a_variable_that_is_no_text_is_refused_and_not_taken_for_unset() {
    use std::os::unix::ffi::OsStringExt;

    let strange = || OsString::from_vec(b"redis://:p\xe4ssword@h".to_vec());
    let of = |one: Option<OsString>, other: Option<OsString>| {
        Config::from_variables(|name| if name == "REDLATCH_URL" { one.clone() } else { other.clone() })
    };
    for (name, refused) in
        [("REDLATCH_URL", of(Some(strange()), Some("redis://other".into()))), ("REDIS_URL", of(None, Some(strange())))]
    {
        let Err(Error::Config(said)) = refused else { panic!("{name} must be refused") };
        assert!(said.contains(name) && said.contains("UTF-8") && !said.contains("ssword"), "{said}");
    }
    let server = |one: Option<&str>, other: Option<&str>| {
        of(one.map(OsString::from), other.map(OsString::from)).expect("a good URL").server()
    };
    assert_eq!(server(Some("redis://one"), Some("redis://other")), "redis://one:6379");
    assert_eq!(server(Some(""), Some("redis://other")), "redis://other:6379");
    assert_eq!(server(None, None), "redis://localhost:6379");
}

#[test]
#[cfg(feature = "__tls")]
fn a_file_of_the_systems_authorities_that_has_none_is_refused_where_it_would_count() {
    let tls = |config: Config, used: bool, file: &str| config.tls.check_system(used, Some(file.into()));
    let bad = "/no/such/file";
    let Err(Error::Config(said)) = tls(plain(), true, bad) else { panic!("it must be refused") };
    assert!(said.contains(bad) && said.contains("SSL_CERT_FILE") && said.contains("tls_ca"), "{said}");
    assert!(tls(plain(), true, "/dev/null").is_err(), "it has no certificate");
    assert!(tls(plain(), false, bad).is_ok(), "no connection uses it");
    assert!(tls(plain(), true, "").is_ok(), "it is as good as unset");
    assert!(tls(plain().tls_ca("…"), true, bad).is_ok(), "the program has chosen");
    assert!(tls(plain().tls_verify(TlsVerify::None), true, bad).is_ok(), "nothing is trusted or distrusted");
}
