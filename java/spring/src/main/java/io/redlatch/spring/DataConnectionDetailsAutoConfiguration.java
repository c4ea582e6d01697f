package io.redlatch.spring;

import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;

/** The servers of a {@link DataRedisConnectionDetails} in Boot 4.0, if it is not that of the properties. */
@AutoConfiguration(before = RedlatchAutoConfiguration.class)
@ConditionalOnClass(DataRedisConnectionDetails.class)
public class DataConnectionDetailsAutoConfiguration {
    @Bean
    ServerDetails redlatchDataConnectionDetails(ObjectProvider<DataRedisConnectionDetails> details) {
        return properties -> {
            DataRedisConnectionDetails found = details.getIfAvailable();
            return found == null || found.getClass().getSimpleName().startsWith("Properties") ? null : over(properties, found);
        };
    }

    private static SpringDataRedis over(SpringDataRedis properties, DataRedisConnectionDetails details) {
        SpringDataRedis login = properties.login(details.getUsername(), details.getPassword(), details.getSslBundle() != null);
        DataRedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        if (sentinel != null) {
            return login.sentinel(sentinel.getDatabase(), new SpringDataRedis.Sentinel(sentinel.getMaster(), places(sentinel.getNodes()),
                    sentinel.getUsername(), sentinel.getPassword()));
        }
        if (details.getCluster() != null) {
            return login.cluster(places(details.getCluster().getNodes()));
        }
        if (details.getMasterReplica() != null) {
            return login.masterReplica(places(details.getMasterReplica().getNodes()));
        }
        return login.standalone(details.getStandalone().getHost(), details.getStandalone().getPort(), details.getStandalone().getDatabase());
    }

    private static List<String> places(List<DataRedisConnectionDetails.Node> nodes) {
        return nodes.stream().map(node -> SpringDataRedis.place(node.host()) + ":" + node.port()).toList();
    }
}
