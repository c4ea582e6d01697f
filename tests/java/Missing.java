/** The methods that Redisson's types have and ours of the same names have not, and why. */
enum Missing {
    /** Netty's types are named in these, and Netty is not used. */
    NETTY("config\\.Config|client\\.(Default)?NettyHook|connection\\..*|client\\.codec\\..*|codec\\..*",
            ".*(io\\.netty|org\\.redisson\\.client\\.protocol).*|.*BaseCodec.*|.* copy\\(.*"),
    /** This library never chooses among replicas. */
    REPLICAS("connection\\.balancer\\..*", ".*ClientConnectionsEntry.*"),
    /** Programs get these from other methods, and locks need no codecs and no replicas. */
    MADE_BY_OTHERS("config\\.BaseMasterSlaveServersConfig|api\\.options\\.(Common|Keys)Params", "new\\(\\)|.*[cC]odec\\(.*|.*[rR]eadMode\\(.*"),
    /** Objects other than locks are for a client of everything that Redis has. */
    OBJECTS("api\\.Redisson(Rx|Reactive)?Client|Redisson",
            "(?!.*Lock\\(|.*CountDownLatch|.*Semaphore|.*getKeys\\().* (get|create|execute|find|is)\\w*\\(.*"),
    /** Events of any key are for a client of everything that Redis has. */
    KEYS("api\\.RKeys(Async|Rx|Reactive)?", ".* (add|remove)Listener(Async)?\\(.*"),
    /** Emptying, swapping and moving databases takes the locks of all programs away; operators do that with a client of the server. */
    DATABASES("api\\.RKeys(Async|Rx|Reactive)?", ".* (flush(db|all)(Parallel)?|swapdb|move|migrate|copy)(Async)?\\(.*"),
    /** Redisson's latch for Reactor has the types of RxJava there, and gives others: each of these calls ends with a ClassCastException. */
    MISTAKES("api\\.RCountDownLatchReactive", ".*io\\.reactivex\\..*"),
    /** Classes that programs test for, and seldom call: their methods beside those of their interfaces are the inside of Redisson. */
    INSIDE("Redisson(?!MultiLock|RedLock|ShutdownException)\\w+", ".*");

    private final String types;
    private final String calls;

    Missing(String types, String calls) {
        this.types = types;
        this.calls = calls;
    }

    /** The reason; null if there is none. */
    static Missing of(String type, String call) {
        for (Missing each : values()) {
            if (type.matches("org\\.redisson\\.(" + each.types + ")") && call.matches(each.calls)) {
                return each;
            }
        }
        return null;
    }

    /** Whether one of its supertypes is a mistake there; see {@link #MISTAKES}. */
    static boolean isMistaken(String type, String supertype) {
        return type.equals("org.redisson.api.RCountDownLatchReactive") && supertype.equals("org.redisson.api.RObjectRx");
    }

    /** Classes that programs test for and do not extend; their superclasses are this library's own. */
    static boolean isClassOfThisLibrary(String type) {
        return type.matches("org\\.redisson\\.(Redisson\\w+|config\\..*|api\\.options\\.\\w*Params|connection\\..*|client\\..*)");
    }
}
