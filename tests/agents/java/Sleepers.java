import java.lang.reflect.Field;
import java.util.Collection;
import java.util.Map;

/**
 * Counts the sleeping waiters of a Redisson, by reflection. Only Redisson needs this: between its look at the lock and its sleep a waiter of
 * Redisson misses messages.
 */
final class Sleepers {
    private Sleepers() {}

    /** How many waiters sleep until a message about that object. */
    static int of(Object object, String name) {
        try {
            Object messages = messages(object);
            Map<?, ?> entries = (Map<?, ?>) field(messages.getClass().getSuperclass(), "entries", messages);
            int count = 0;
            for (Map.Entry<?, ?> entry : entries.entrySet()) {
                if (entry.getKey().toString().contains(name)) {
                    count += ((Collection<?>) field(entry.getValue().getClass(), "listeners", entry.getValue())).size();
                }
            }
            return count;
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("this Redisson keeps its waiters elsewhere than 3.27.2 to 4.7.0", e);
        }
    }

    private static Object messages(Object object) throws ReflectiveOperationException {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals("pubSub") || field.getName().equals("semaphorePubSub")) {
                    return field(type, field.getName(), object);
                }
            }
        }
        throw new NoSuchFieldException("pubSub");
    }

    private static Object field(Class<?> type, String name, Object of) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }
}
