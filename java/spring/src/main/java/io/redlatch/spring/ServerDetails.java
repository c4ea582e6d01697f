package io.redlatch.spring;

/** The servers that another bean names, as one of Testcontainers. Its type in Boot has another package in each generation. */
@FunctionalInterface
interface ServerDetails {
    /** Null: there is no such bean, or it says no more than the properties. */
    SpringDataRedis over(SpringDataRedis properties);
}
