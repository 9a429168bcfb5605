import { createHash } from 'node:crypto';

const DISCORD: ReadonlySet<string> = new Set(['cdn.discordapp.com', 'media.discordapp.net']);
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Where a Discord-compatible server of one origin has its files, and nothing else. */
const FILES = /^\/(?:cdn|attachments|ephemeral-attachments)\//;
/** A signature and its expiry: the same file gets new ones every day. */
const EXPIRING = ['ex', 'is', 'hm'];

/** Decides which addresses images are fetched from. */
export type MayFetch = (url: URL) => boolean;

/**
 * Discord's own hosts, over https; and the files of the server that stands in for Discord, when the REST base is not Discord's.
 * Plain http only on this machine.
 * @param api REST base in use: `client.options.rest.api`
 */
export function discordAddresses(api: string | undefined): MayFetch {
  const own = api === undefined || !URL.canParse(api) ? undefined : new URL(api);
  const standIn = own === undefined || /(?:^|\.)discord(?:app)?\.com$/.test(own.hostname) ? undefined : own;
  return (url) => {
    if (url.username !== '' || url.password !== '') return false;
    if (DISCORD.has(url.host)) return url.protocol === 'https:';
    if (standIn === undefined || url.origin !== standIn.origin || !FILES.test(url.pathname)) return false;
    return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  };
}

/** Names an image for good: SHA-256 of its address without what expires. */
export function imageKey(url: URL): string {
  const lasting = new URL(url);
  for (const parameter of EXPIRING) lasting.searchParams.delete(parameter);
  lasting.hash = '';
  return createHash('sha256').update(lasting.href).digest('hex');
}
