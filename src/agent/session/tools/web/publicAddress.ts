import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Ranges of IPv4 that are not of the public internet: this machine, private and shared networks, link-local, tests, multicast. */
const NOT_PUBLIC: readonly (readonly [net: string, prefix: number])[] = [
  ...[
    ['0.0.0.0', 8] as const,
    ['10.0.0.0', 8] as const,
    ['100.64.0.0', 10] as const,
    ['127.0.0.0', 8] as const,
  ],
  ...[['169.254.0.0', 16] as const, ['172.16.0.0', 12] as const, ['192.0.0.0', 24] as const],
  ...[['192.0.2.0', 24] as const, ['192.88.99.0', 24] as const, ['192.168.0.0', 16] as const],
  ...[['198.18.0.0', 15] as const, ['198.51.100.0', 24] as const, ['203.0.113.0', 24] as const],
  ...[['224.0.0.0', 4] as const, ['240.0.0.0', 4] as const],
];

/** Ranges of 2000::/3, the public part of IPv6, that are for documentation or stand for an address of IPv4. */
const NOT_PUBLIC_6: readonly (readonly [net: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const refused = new BlockList();
for (const [net, prefix] of NOT_PUBLIC) refused.addSubnet(net, prefix, 'ipv4');
const refused6 = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_6) refused6.addSubnet(net, prefix, 'ipv6');
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address is one of the public internet. False for a text that is not an address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refused.check(address, 'ipv4');
  return isIPv6(address) && global6.check(address, 'ipv6') && !refused6.check(address, 'ipv6');
}
