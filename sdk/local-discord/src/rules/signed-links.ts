import { createHash } from 'node:crypto';
import type { World } from '../state/world.js';

const DAY_S = 86_400;

/**
 * A link to a file that works for a day.
 * https://discord.com/developers/docs/reference#signed-attachment-cdn-urls
 */
export function signed(world: World, path: string): string {
  const issued = Math.floor(world.clock.now() / 1_000);
  const [is, ex] = [hex(issued), hex(issued + DAY_S)];
  return `${world.addresses.cdn}${path}?${new URLSearchParams({ ex, is, hm: signatureOf(path, ex, is) })}&`;
}

/** Whether the CDN serves a file by this link: it does not when it has expired, or was not signed here. */
export function isServed(world: World, path: string, link: URLSearchParams): boolean {
  const [ex = '', is = '', hm = ''] = ['ex', 'is', 'hm'].map((name) => link.get(name) ?? '');
  return hm === signatureOf(path, ex, is) && Number.parseInt(ex, 16) * 1_000 > world.clock.now();
}

function hex(seconds: number): string {
  return seconds.toString(16);
}

function signatureOf(path: string, ex: string, is: string): string {
  return createHash('sha256').update(`${path} ${ex} ${is}`).digest('hex');
}
