/** Types that other packages name in their methods. */
package org.redisson.misc;
