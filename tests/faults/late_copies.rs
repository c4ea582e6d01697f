//! Copies of calls that reach the server long after their senders gave them up.

use redlatch::ffi::{Border, Look, Op, Request};

use super::*;

mod every_kind;

struct Scene {
    server: Server,
    proxy: Proxy,
    client: Client,
    other: Client,
}

impl Scene {
    fn with(options: &str) -> Self {
        Scene::on(Server::start(), options)
    }

    /// A server that lets no client end another's connection: only time stops a copy there.
    fn without_kill(options: &str) -> Self {
        let server = Server::start();
        server.view().command::<()>(&["ACL", "SETUSER", "default", "-client|kill"]);
        Scene::on(server, options)
    }

    fn on(server: Server, options: &str) -> Self {
        let proxy = Proxy::start(&server);
        let client = connect(&format!("{}{options}", server.url_at(proxy.port())));
        // The first call opens the connection.
        client.lock("warm").blocking().acquire().expect("free").release().expect("held");
        let other = connect(&server.url());
        Scene { server, proxy, client, other }
    }
}

#[test]
fn a_copy_on_its_way_is_stopped_before_it_is_repeated() {
    let scene = Scene::with("");
    scene.proxy.keep_request("EVALSHA");
    let guard =
        scene.client.lock("n").lease(LONG).wait(PATIENCE).blocking().acquire().expect("the repeat is carried out");
    guard.release().expect("held");
    assert!(!scene.proxy.deliver_kept(), "the server still listens to it");
    assert!(!scene.server.view().exists("n"));
}

#[test]
fn a_late_acquire_leaves_no_ghost() {
    let scene = Scene::without_kill("");
    scene.proxy.keep_request("EVALSHA");
    let guard =
        scene.client.lock("n").lease(LONG).wait(PATIENCE).blocking().acquire().expect("the repeat is carried out");
    guard.release().expect("held");
    assert!(scene.proxy.deliver_kept());
    assert!(!scene.server.view().exists("n"));
}

#[test]
fn a_late_release_takes_nothing_from_the_next_holder() {
    let scene = Scene::without_kill("");
    let guard = scene.client.lock("n").lease(LONG).blocking().acquire().expect("free");
    scene.proxy.keep_request("EVALSHA");
    guard.release().expect("the repeat is carried out");
    let next = scene.other.lock("n").lease(LONG).blocking().acquire().expect("free");
    assert!(scene.proxy.deliver_kept());
    next.ensure().expect("no copy took it away");
    assert_eq!(counts(&mut scene.server.view(), "n"), ["1"]);
    next.release().expect("held");
}

#[test]
fn a_late_release_takes_nothing_from_the_same_owners_next_hold() {
    let scene = Scene::without_kill("");
    let lock = || scene.client.lock("n").owner(7).lease(LONG).blocking();
    let guard = lock().acquire().expect("free");
    scene.proxy.keep_request("EVALSHA");
    guard.release().expect("the repeat is carried out");
    let next = lock().acquire().expect("free");
    assert!(scene.proxy.deliver_kept());
    assert_eq!(counts(&mut scene.server.view(), "n"), ["1"]);
    next.release().expect("held");
}

#[test]
fn a_late_renewal_prolongs_no_other_owners_lease() {
    let scene = Scene::with("?watchdog=3");
    let guard = scene.client.lock("n").blocking().acquire().expect("free");
    // The renewal is the only call under way. From here on the holder is cut off, and its lease runs out.
    scene.proxy.keep_request("EVALSHA");
    eventually("a renewal", || (scene.proxy.struck() == 1).then_some(()));
    scene.proxy.refuse();
    scene.proxy.cut();
    let next = scene.other.lock("n").lease(secs(5)).wait(LONG).blocking().acquire().expect("the lease ended");
    let mut view = scene.server.view();
    let asked = Instant::now();
    let left = view.pttl("n");
    assert!(scene.proxy.deliver_kept());
    let since = asked.elapsed().as_millis() as i64;
    assert!(view.pttl("n") <= left, "it lives longer than {left} ms after {since} ms");
    assert!(guard.ensure().is_err(), "its lease ran out");
    next.ensure().expect("no copy took it away");
    assert_eq!(counts(&mut view, "n"), ["1"]);
    next.release().expect("held");
}

#[test]
fn a_late_copy_of_another_end_shortens_no_later_end() {
    let scene = Scene::without_kill("?response_timeout=0.1&retry_for=0");
    let guard = scene.client.lock("n").owner(7).lease(LONG).blocking().acquire().expect("free");
    let extend = |lease| {
        let hold = scene.client.latest("plain", "n", 7).expect("it has one");
        scene.client.run_blocking(Request { hold, lease: Some(lease), ..Request::new(Op::Extend, "plain", "n", 7) })
    };
    // With this call the server knows the script.
    extend(LONG).expect("held");
    // Only that call names the new end: the server is asked about the hold as well.
    scene.proxy.keep_request("\r\n5000\r\n");
    let unknown = extend(secs(5)).expect_err("no answer comes");
    assert_eq!(unknown.code(), "unavailable", "{unknown}");
    // The next extension is sent once no copy of the first one can follow.
    eventually("another end", || extend(LONG).ok());
    scene.proxy.deliver_kept();
    let hold = scene.client.latest("plain", "n", 7).expect("it has one");
    let Look::Held { remaining: left } = scene.client.look(hold) else { panic!("it is held") };
    let kept = scene.server.view().pttl("n");
    assert!(
        kept as u128 + 3 > left.as_millis(),
        "the server keeps it for {kept} ms, and its holder believes in {left:?}"
    );
    guard.release().expect("held");
}

#[test]
fn a_release_after_the_lease_takes_nothing_from_the_next_holder() {
    let scene = Scene::without_kill("");
    let guard = scene.client.lock("n").lease(ms(300)).blocking().acquire().expect("free");
    let next = scene.other.lock("n").lease(LONG).wait(PATIENCE).blocking().acquire().expect("the lease ended");
    assert_eq!(guard.release().expect_err("it was lost").code(), "lost");
    next.ensure().expect("no copy took it away");
    assert_eq!(counts(&mut scene.server.view(), "n"), ["1"]);
    next.release().expect("held");
}
