import { readdirSync } from 'node:fs';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Accounts, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { receipt } from '../accounts/receipt.js';
import { openBrowser } from './browser.js';

const listed = z.object({
  pages: z.array(z.object({ id: z.string(), about: z.enum(['guild', 'bot']), hasCard: z.boolean() })),
});
const link = z.union([
  z.object({ page: z.string(), query: z.record(z.string(), z.string()).optional(), guildId: z.string().nullish() }),
  z.object({ overview: z.string() }),
  z.object({ discord: z.url() }),
]);
type Link = z.output<typeof link>;

/** All values under a key, at any depth. */
function valuesOf(key: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(key, item));
  if (typeof value !== 'object' || value === null) return [];
  const own = key in value ? [value] : [];
  return [...own, ...Object.values(value).flatMap((part) => valuesOf(key, part))];
}

const addressOf = (to: Exclude<Link, { readonly discord: string }>, guildId: string | undefined): string => {
  if ('overview' in to) return `/api/pages?guild=${to.overview}`;
  const guild = to.guildId === undefined ? guildId : (to.guildId ?? undefined);
  return `/api/pages/${to.page}?${new URLSearchParams({ ...to.query, ...(guild === undefined ? {} : { guild }) })}`;
};

/** A bot with countable data on most pages. */
async function seed(host: TestHost): Promise<void> {
  const { alice, general, guild, you } = host;
  const actor = { userId: alice.id, guildId: guild.id, channelId: general.id };
  await host.resolve(Accounts).record(receipt({ id: 'one', actor, at: host.clock.now() }));
  you.say(general, `!set welcome channel <#${general.id}>`);
  alice.say(general, '!ai add V to my party, he’s a Solo');
  await host.settled();
  await host.advance(2_500);
  await host.advance(1_500);
}

/** The addresses of all pages and cards, with their guild. */
async function places(owner: ReturnType<typeof openBrowser>, { guild: { id: guildId }, general }: TestHost) {
  const found: { readonly path: string; readonly guild: string | undefined }[] = [
    { path: `/api/pages/chat/context?channel=${general.id}&guild=${guildId}`, guild: guildId },
    { path: `/api/pages/accounts/answers?channel=${general.id}&guild=${guildId}`, guild: guildId },
  ];
  for (const guild of [guildId, undefined]) {
    const query = guild === undefined ? '' : `?guild=${guild}`;
    const { pages } = listed.parse((await owner.get(`/api/pages${query}`)).body);
    for (const { id, hasCard } of pages)
      for (const part of hasCard ? ['', '/card'] : ['']) found.push({ path: `/api/pages/${id}${part}${query}`, guild });
  }
  return found;
}

const figures = z.object({ figures: z.array(z.looseObject({ name: z.string(), value: z.unknown() })) });
const counted = z.object({ count: z.number(), link });

/** Figures with numbers in their text, but without a link. */
const unlinked = (body: unknown) =>
  valuesOf('figures', body)
    .flatMap((block) => figures.parse(block).figures)
    .filter(({ value, link: to }) => /"badge":"[^"]*\d/.test(JSON.stringify(value)) && to === undefined)
    .map(({ name }) => name);

describe('web: a number on a page', () => {
  it('that counts something leads to what it counts, which is there', async () => {
    const plugins = readdirSync('plugins').filter((name) => !name.startsWith('.'));
    await using host = await createTestHost({ plugins, env: { CINNABAR_WEB: '0' }, printErrors: false });
    await seed(host);
    const owner = openBrowser(host);
    await owner.signIn(host.you.id);
    const leadsTo = new Map<string, string>();
    let counts = 0;
    for (const { path, guild } of await places(owner, host)) {
      const { body } = await owner.get(path);
      expect(unlinked(body), path).to.deep.equal([]);
      for (const one of [...valuesOf('cells', body), ...valuesOf('value', body)].flatMap((part) =>
        valuesOf('count', part),
      )) {
        counts += 1;
        const to = counted.parse(one).link;
        if (!('discord' in to)) leadsTo.set(addressOf(to, guild), path);
      }
    }
    for (const [address, path] of leadsTo) {
      const { status, body } = await owner.get(address);
      expect(status, `${path} → ${address}: ${JSON.stringify(body).slice(0, 200)}`).to.equal(200);
    }
    expect(counts).to.be.greaterThan(40);
    expect([...leadsTo.keys()]).to.include('/api/pages/web/health?part=under-way');
  }).timeout(60_000);

  it('of the settings that were changed leads to those alone', async () => {
    await using host = await createTestHost({
      plugins: ['admin', 'welcome', 'web'],
      env: { CINNABAR_WEB: '0' },
      printErrors: false,
    });
    host.you.say(host.general, `!set welcome channel <#${host.general.id}>`);
    await host.settled();
    const owner = openBrowser(host);
    await owner.signIn(host.you.id);
    const settings = async (query: string) => {
      const { body } = await owner.get(`/api/pages/admin/settings?plugin=welcome${query}&guild=${host.guild.id}`);
      return valuesOf('label', body).map((field) => z.looseObject({ label: z.string() }).parse(field).label);
    };
    expect((await settings('')).length).to.be.greaterThan(2);
    expect(await settings('&changed=true'))
      .to.include('channel')
      .and.not.include('message');
  });

  it('of the servers of a shard leads to the servers of that shard', async () => {
    await using host = await createTestHost({
      plugins: ['admin', 'web'],
      env: { CINNABAR_WEB: '0' },
      printErrors: false,
    });
    const owner = openBrowser(host);
    await owner.signIn(host.you.id);
    const shown = async (shard: string) =>
      JSON.stringify((await owner.get(`/api/pages/admin/servers?shards=${shard}`)).body);
    expect(await shown('0')).to.include(`{"overview":"${host.guild.id}"}`);
    expect(await shown('1')).not.to.include(host.guild.id);
  });
});
