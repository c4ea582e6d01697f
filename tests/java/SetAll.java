import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/** The main class of a child JVM: sets every setting of a mode to what it is by default, and makes a client of it. */
public final class SetAll {
    private SetAll() {}

    /** @param arguments the method that chooses the mode, and whether to set anything */
    public static void main(String... arguments) throws Exception {
        Config config = new Config().setLazyInitialization(true);
        BaseConfig<?> servers = (BaseConfig<?>) Config.class.getMethod(arguments[0]).invoke(config);
        if (arguments[1].equals("set")) {
            set(config);
            set(servers);
        }
        config.setLazyInitialization(true);
        for (String setter : List.of("setAddress", "setMasterAddress", "addNodeAddress", "addSentinelAddress")) {
            call(servers, setter, type -> type == String.class ? "redis://h:1" : new String[] {"redis://h:1"});
        }
        call(servers, "setMasterName", type -> "main");
        Redisson.create(config).shutdown();
        System.out.println("set");
    }

    private static void set(Object settings) throws Exception {
        for (Method setter : settings.getClass().getMethods()) {
            String name = setter.getName().substring(Math.min(3, setter.getName().length()));
            Method getter = setter.getName().matches("set[A-Z].*") && setter.getParameterCount() == 1 ? getter(settings, name) : null;
            if (getter != null && getter.getReturnType() == setter.getParameterTypes()[0]) {
                setter.invoke(settings, getter.invoke(settings));
            }
        }
    }

    private static Method getter(Object settings, String name) {
        for (Method each : settings.getClass().getMethods()) {
            if (each.getName().matches("(get|is)" + name) && each.getParameterCount() == 0) {
                return each;
            }
        }
        return null;
    }

    private static void call(Object settings, String setter, Function<Class<?>, Object> value) throws Exception {
        for (Method each : settings.getClass().getMethods()) {
            if (each.getName().equals(setter) && each.getParameterCount() == 1) {
                each.invoke(settings, value.apply(each.getParameterTypes()[0]));
                return;
            }
        }
    }
}
