// The measuring program for other engines: `Program <url>`.

import java.net.URI;

public final class Program {
    private Program() {}

    public static void main(String[] args) throws Exception {
        Orders.carryOut(engine(URI.create(args[0])), new Callers(false));
    }

    private static Engine engine(URI url) {
        int lease = url.getQuery() == null ? 30 : Integer.parseInt(url.getQuery().replace("watchdog=", ""));
        switch (url.getScheme()) {
            case "zookeeper": return new ZooKeeper(url.getAuthority(), lease);
            case "mysql": return new Database(url.getHost() + ":" + url.getPort(), true);
            case "postgres": return new Database(url.getAuthority(), false);
            default: throw new IllegalArgumentException(url + " is of no engine");
        }
    }
}
