package io.redlatch.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Applications of Boot without a web server. */
final class Apps {
    private Apps() {}

    /** @param properties as {@code name=value} */
    static ConfigurableApplicationContext start(Class<?> configuration, String... properties) {
        List<String> arguments = new ArrayList<>(List.of("--logging.level.root=WARN", "--spring.main.register-shutdown-hook=false",
                "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1"));
        for (String property : properties) {
            arguments.add("--" + property);
        }
        return new SpringApplicationBuilder(configuration).web(WebApplicationType.NONE).bannerMode(Banner.Mode.OFF).logStartupInfo(false)
                .run(arguments.toArray(String[]::new));
    }

    /** The exception of a type among the causes. */
    static <E extends Throwable> E cause(Class<E> type, Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        throw new AssertionError("no " + type.getName() + " among the causes", error);
    }
}
