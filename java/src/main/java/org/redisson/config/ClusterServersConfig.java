package org.redisson.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A cluster: names are spread over its masters. */
public class ClusterServersConfig extends BaseMasterSlaveServersConfig<ClusterServersConfig> {
    /** The defaults, without a server. */
    public ClusterServersConfig() {}

    ClusterServersConfig(ClusterServersConfig other) {
        super(other);
    }

    @Override
    ClusterServersConfig self() {
        return this;
    }

    @Override
    ClusterServersConfig copy() {
        return new ClusterServersConfig(this);
    }

    @Override
    String mode() {
        return "cluster servers";
    }

    /** Adds where servers are; see {@link SingleServerConfig#setAddress}. */
    public ClusterServersConfig addNodeAddress(String... addresses) {
        List<String> all = new ArrayList<>(getNodeAddresses());
        Collections.addAll(all, addresses);
        setNodeAddresses(all);
        return this;
    }

    /** The addresses. */
    public List<String> getNodeAddresses() {
        return kept.get("nodeAddresses", List.of());
    }

    /** The addresses, in place of those before. */
    public void setNodeAddresses(List<String> nodeAddresses) {
        kept.put("nodeAddresses", nodeAddresses);
    }

    /** Without meaning here: the cluster is asked for its shape when a server redirects or fails, and now and then; default 5000. */
    public ClusterServersConfig setScanInterval(int scanInterval) {
        kept.idle("scanInterval", scanInterval);
        return this;
    }

    /** The value that was set. */
    public int getScanInterval() {
        return kept.get("scanInterval", 5000);
    }

    /** Without meaning here: a slot without a master is an error of the calls that need it; default true. */
    public ClusterServersConfig setCheckSlotsCoverage(boolean checkSlotsCoverage) {
        kept.idle("checkSlotsCoverage", checkSlotsCoverage);
        return this;
    }

    /** The value that was set. */
    public boolean isCheckSlotsCoverage() {
        return kept.get("checkSlotsCoverage", true);
    }

    /** Without meaning here: no replica is connected to; default false. */
    public ClusterServersConfig setCheckMasterLinkStatus(boolean checkMasterLinkStatus) {
        kept.idle("checkMasterLinkStatus", checkMasterLinkStatus);
        return this;
    }

    /** The value that was set. */
    public boolean isCheckMasterLinkStatus() {
        return kept.get("checkMasterLinkStatus", false);
    }

    /** Whether messages stay on the node of their slot; by default where the servers can do it. */
    public ClusterServersConfig setShardedSubscriptionMode(ShardedSubscriptionMode shardedSubscriptionMode) {
        kept.put("shardedSubscriptionMode", shardedSubscriptionMode);
        return this;
    }

    /** The value that was set. */
    public ShardedSubscriptionMode getShardedSubscriptionMode() {
        return kept.get("shardedSubscriptionMode", ShardedSubscriptionMode.AUTO);
    }

    /** The number of the database; 0 by default. */
    public ClusterServersConfig setDatabase(int database) {
        kept.put("database", database);
        return this;
    }

    /** The value that was set. */
    public int getDatabase() {
        return kept.get("database", 0);
    }

    /** Replaces the addresses that servers announce; by default they stay as they are. */
    public ClusterServersConfig setNatMapper(NatMapper natMapper) {
        kept.put("natMapper", natMapper);
        return this;
    }

    /** The value that was set. */
    public NatMapper getNatMapper() {
        return kept.get("natMapper", NatMapper.direct());
    }

    /** @deprecated use {@link #setNatMapper} with {@link HostPortNatMapper} */
    @Deprecated
    public ClusterServersConfig setNatMap(Map<String, String> natMap) {
        HostPortNatMapper mapper = new HostPortNatMapper();
        mapper.setHostsPortMap(natMap);
        return setNatMapper(mapper);
    }
}
