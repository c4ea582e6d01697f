import io.redlatch.Holds;
import java.lang.reflect.Proxy;
import org.redisson.api.RLock;

/** The main class of a child JVM: asks for the hold of a lock that is none of this library's. */
public final class HoldOfNothing {
    private HoldOfNothing() {}

    public static void main(String... arguments) {
        try {
            Holds.of((RLock) Proxy.newProxyInstance(RLock.class.getClassLoader(), new Class<?>[] {RLock.class}, (proxy, method, inputs) -> null));
        } catch (RuntimeException e) {
            System.out.println(e);
        }
    }
}
