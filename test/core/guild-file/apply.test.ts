import type { Driver } from '@cinnabar/core';
import { createMemoryDriver, createTestHost } from '@cinnabar/core/testing';
import { AccessRules, definePlugin, type GuildFileContext, GuildFiles, guildFilePart, z } from '@cinnabar/sdk';
import { expect } from 'chai';

const settings = { guild: z.object({ price: z.int().default(1).describe('Price') }) };
const one = definePlugin({
  manifest: { id: 'one', version: '1.0.0', description: 'One' },
  settings,
  setup: () => undefined,
});
const twoSettings = { ...settings, role: z.object({ color: z.string().optional().describe('Color') }) };
const collections = {
  notes: { scope: 'guild', version: 1, schema: z.object({ text: z.string().default('') }) },
} as const;
type Context = GuildFileContext<typeof twoSettings, typeof collections>;
const two = definePlugin({
  manifest: { id: 'two', version: '1.0.0', description: 'Two' },
  settings: twoSettings,
  collections,
  guildFile: guildFilePart({
    schema: z.strictObject({ text: z.string().default('') }),
    read: ({ guildId, collections }: Context) => collections.notes.of(guildId).get(),
    async write(note, { guildId, collections }: Context) {
      await collections.notes.of(guildId).set(note);
    },
  }),
  setup: () => undefined,
});

/** A driver that accepts a number of writes after `arm`, and then refuses `failures` of them. */
function failing(inner: Driver) {
  let left = Number.POSITIVE_INFINITY;
  let failures = 0;
  const refusing = () => {
    if (left > 0) {
      left -= 1;
      return false;
    }
    failures -= 1;
    return failures >= 0;
  };
  const driver: Driver = {
    ...inner,
    write: (path, stored) =>
      path[0] !== '%40host/audit' && refusing() ? Promise.reject(new Error('ENOSPC')) : inner.write(path, stored),
    delete: (path) => (refusing() ? Promise.reject(new Error('ENOSPC')) : inner.delete(path)),
  };
  return {
    driver,
    arm(writes: number, count: number) {
      left = writes;
      failures = count;
    },
  };
}

const FILE = [
  'plugins: { one: off }',
  'prefixes: ["?"]',
  'settings: { one: { price: 5 }, two: { price: 7 } }',
  'parts: { two: { text: hi } }',
].join('\n');

describe('applying a file of a guild', () => {
  it('loses nothing that another admin changes while it is being applied', async () => {
    const inner = createMemoryDriver();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const driver: Driver = {
      ...inner,
      async write(path, stored) {
        const task = path[0]?.includes('host') && path.includes('guild-files') ? meanwhile : undefined;
        meanwhile = task === undefined ? meanwhile : undefined;
        await task?.();
        return inner.write(path, stored);
      },
    };
    await using host = await createTestHost({ plugins: [one, two], driver });
    const { guild } = host;
    const actor = { userId: host.you.id, guildId: guild.id, channelId: host.general.id };
    const files = host.resolve(GuildFiles);
    const text = 'rules: [{ effect: deny, plugin: two, everyone: true }]\nsettings: { one: { price: 5 } }';
    const plan = await files.plan(guild.id, text, actor);
    const rule = { effect: 'deny', target: { kind: 'plugin', name: 'one' }, subject: { kind: 'everyone' } } as const;
    meanwhile = () => host.resolve(AccessRules).set(guild.id, rule);
    const outcome = await plan.apply(actor).catch((error: unknown) => String(error));
    expect(outcome).to.include('Something has been changed here since then');
    expect(await host.resolve(AccessRules).list(guild.id)).to.deep.equal([rule]);
    expect(await files.export(guild.id)).to.not.include('price');
    await (await files.plan(guild.id, text, actor)).apply(actor);
    expect(await files.export(guild.id))
      .to.include('price: 5')
      .and.not.include('plugin: one');
  });

  it('is all or nothing whichever write fails, and is completed by the next start when the bot dies in it', async () => {
    for (const [writes, deaths] of [0, 1, 2, 3, 4, 5].flatMap((count) => [
      [count, 1] as const,
      [count, 1_000] as const,
    ])) {
      const medium = createMemoryDriver();
      const { driver, arm } = failing(medium);
      const host = await createTestHost({ plugins: [one, two], driver });
      const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
      const files = host.resolve(GuildFiles);
      const before = await files.export(host.guild.id);
      const plan = await files.plan(host.guild.id, FILE, actor);
      arm(writes, deaths);
      const outcome = await plan.apply(actor).then(
        () => 'applied',
        () => 'failed',
      );
      if (deaths === 1 && outcome === 'failed') expect(await files.export(host.guild.id)).to.equal(before);
      await host.stop();
      arm(Number.POSITIVE_INFINITY, 0);
      const { discord, application, guild, general, you, alice, bob, clock } = host;
      const world = { discord, application, guild, general, you, alice, bob, clock };
      const again = await createTestHost({ plugins: [one, two], driver: medium, world });
      const after = await again.resolve(GuildFiles).export(host.guild.id);
      const { differences } = await again.resolve(GuildFiles).plan(host.guild.id, FILE, actor);
      const isNothing = after === before;
      expect([isNothing, differences.length === 0], `${writes} writes, then ${deaths} failures`).to.be.deep.oneOf([
        [true, false],
        [false, true],
      ]);
      await again.stop();
      await host[Symbol.asyncDispose]();
    }
  });
});
