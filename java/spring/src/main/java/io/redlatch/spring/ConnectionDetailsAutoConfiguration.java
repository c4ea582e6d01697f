package io.redlatch.spring;

import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.context.annotation.Bean;

/** The servers of a {@link RedisConnectionDetails} in Boot 3.5, if it is not that of the properties. */
@AutoConfiguration(before = RedlatchAutoConfiguration.class)
@ConditionalOnClass(RedisConnectionDetails.class)
public class ConnectionDetailsAutoConfiguration {
    @Bean
    ServerDetails redlatchConnectionDetails(ObjectProvider<RedisConnectionDetails> details) {
        return properties -> {
            RedisConnectionDetails found = details.getIfAvailable();
            return found == null || found.getClass().getSimpleName().startsWith("Properties") ? null : over(properties, found);
        };
    }

    private static SpringDataRedis over(SpringDataRedis properties, RedisConnectionDetails details) {
        SpringDataRedis login = properties.login(details.getUsername(), details.getPassword(), bundle(details) != null);
        RedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        if (sentinel != null) {
            return login.sentinel(sentinel.getDatabase(), new SpringDataRedis.Sentinel(sentinel.getMaster(), places(sentinel.getNodes()),
                    sentinel.getUsername(), sentinel.getPassword()));
        }
        if (details.getCluster() != null) {
            return login.cluster(places(details.getCluster().getNodes()));
        }
        return login.standalone(details.getStandalone().getHost(), details.getStandalone().getPort(), details.getStandalone().getDatabase());
    }

    private static SslBundle bundle(RedisConnectionDetails details) {
        if (details.getSentinel() != null) {
            return details.getSentinel().getSslBundle();
        }
        return details.getCluster() != null ? details.getCluster().getSslBundle() : details.getStandalone().getSslBundle();
    }

    private static List<String> places(List<RedisConnectionDetails.Node> nodes) {
        return nodes.stream().map(node -> SpringDataRedis.place(node.host()) + ":" + node.port()).toList();
    }
}
