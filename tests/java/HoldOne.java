import io.redlatch.Redlatch;
import java.io.IOException;

/** The main class of child JVMs: takes a lock, says so, and holds it until its input ends. */
public final class HoldOne {
    private HoldOne() {}

    /** @param arguments a URL and the name of the lock */
    public static void main(String... arguments) throws IOException {
        Redlatch.connect(arguments[0]).getLock(arguments[1]).lock();
        System.out.println("held");
        System.in.read();
    }
}
