/** The differences from Redisson: the lines of {@code behaviours.txt} that differ, and what docs/redisson.md says of them. */
enum Differing {
    /** A multi lock of locks, and one of values, answer here what they cannot answer there. */
    MORE_OF_MULTI_LOCKS("(multi|values)\\.(forceUnlock|isLocked|getHoldCount|remainTimeToLive|getName|lock)(Async)?\\(.*\\| throws .*"
            + "(UnsupportedOperation|NullPointer|Redis)Exception \\| .*", "no such method, or an error"),
    /** Of values, the force that frees nothing there. */
    FORCE_OF_VALUES("values\\.forceUnlock(Async)?\\(.*", "no such method, or an error"),
    /** The kind of the failure is told in one word, by every method. */
    DOWN(".* server down \\| throws .* \\| throws org\\.redisson\\.client\\.Redis(Connection|ResponseTimeout)Exception", "a call of which the server cannot be reached"),
    /** The client knows the holds of a thread without the server. */
    UNLOCK_DOWN(".*\\.unlock(Async)?\\(.* server down \\| .* \\| throws java\\.lang\\.IllegalMonitorStateException", "of what the thread does not hold, while"),
    /** A multi lock goes on trying there, or gives up without a word. */
    MULTI_DOWN("multi\\..* (server down|shut down) \\| .* \\| throws .*", "a multi lock of which no server can be reached"),
    /** It asks once here, as its name and its documentation say. */
    TOKEN_AT_ONCE("fenced\\.tryLockAndGetToken(Async)?\\(\\) other's \\| waits \\| null", "`tryLockAndGetToken()` of a lock that is taken");

    /** A part of the line that tells of it. */
    final String told;
    private final String lines;

    Differing(String lines, String told) {
        this.lines = lines;
        this.told = told;
    }

    /** The reason; null if there is none. */
    static Differing of(String line) {
        for (Differing each : values()) {
            if (line.matches(each.lines)) {
                return each;
            }
        }
        return null;
    }
}
