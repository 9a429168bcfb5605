import { createTestHost } from '@cinnabar/core/testing';
import { type Collection, definePlugin, Plugins, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ShardClientUtil } from 'discord.js';
import { aloneInCluster } from '../../support/cluster-process.js';

const HOUR = 3_600_000;
const alarms = {
  scope: 'global',
  version: 1,
  schema: z.object({ at: z.number(), guildId: z.string().nullable(), everyMs: z.number().optional() }),
} as const;
type Alarms = Collection<z.output<typeof alarms.schema>, 'global'>;

/** A plugin that records its runs, and fails the first `failures` times. */
function alarmPlugin() {
  const rung: { readonly key: string; readonly lateMs: number; readonly attempt: number }[] = [];
  let store: Alarms | undefined;
  const state: { failures: number; afterRing: () => void } = { failures: 0, afterRing: () => undefined };
  const plugin = definePlugin({
    manifest: { id: 'alarm', version: '1.0.0', description: 'Rings' },
    collections: { alarms },
    setup({ schedule, collections }) {
      store = collections.alarms;
      schedule(collections.alarms, {
        dueAt: ({ at }) => at,
        guildOf: ({ guildId }) => guildId,
        async run({ key, value, dueAt, lateMs, attempt }) {
          rung.push({ key, lateMs, attempt });
          if (state.failures > 0) {
            state.failures -= 1;
            throw new Error('the bell is broken');
          }
          const { everyMs } = value;
          if (everyMs !== undefined) await collections.alarms.of(key).set({ ...value, at: dueAt + everyMs });
          state.afterRing();
        },
      });
    },
  });
  const alarmsOf = () => {
    if (store === undefined) throw new Error('the plugin does not run');
    return store;
  };
  return { plugin, rung, state, alarmsOf };
}

describe('schedule', () => {
  it('runs a document when it is due, once, and deletes it; one that is moved or deleted follows', async () => {
    const { plugin, rung, alarmsOf } = alarmPlugin();
    await using host = await createTestHost({ plugins: [plugin] });
    const now = host.clock.now();
    const far = 400 * 24 * HOUR;
    await alarmsOf()
      .of('soon')
      .set({ at: now + HOUR, guildId: null });
    await alarmsOf()
      .of('far')
      .set({ at: now + far, guildId: null });
    await alarmsOf()
      .of('moved')
      .set({ at: now + HOUR, guildId: null });
    await alarmsOf()
      .of('moved')
      .set({ at: now + 3 * HOUR, guildId: null });
    await alarmsOf()
      .of('gone')
      .set({ at: now + HOUR, guildId: null });
    await alarmsOf().of('gone').delete();
    await host.advance(HOUR - 1_000);
    expect(rung).to.deep.equal([]);
    await host.advance(1_000);
    expect(rung).to.deep.equal([{ key: 'soon', lateMs: 0, attempt: 1 }]);
    expect(await alarmsOf().of('soon').find()).to.equal(undefined);
    await host.advance(2 * HOUR);
    expect(rung.map(({ key }) => key)).to.deep.equal(['soon', 'moved']);
    await alarmsOf()
      .of('far')
      .update((draft) => (draft.at = host.clock.now() - 5));
    await host.settled();
    expect(rung.at(-1)).to.deep.include({ key: 'far', lateMs: 5 });
  });

  it('repeats what saves its next time, and tries again what fails, less and less often', async () => {
    const { plugin, rung, state, alarmsOf } = alarmPlugin();
    await using host = await createTestHost({ plugins: [plugin] });
    await alarmsOf()
      .of('daily')
      .set({ at: host.clock.now() + HOUR, guildId: null, everyMs: HOUR });
    state.failures = 2;
    await host.advance(HOUR);
    await host.advance(29_000);
    expect(rung.map(({ attempt }) => attempt)).to.deep.equal([1]);
    await host.advance(1_000);
    await host.advance(60_000);
    expect(rung.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 3]);
    await host.advance(HOUR);
    expect(rung.at(-1)).to.deep.equal({ key: 'daily', lateMs: 0, attempt: 1 });
  });

  it('repeats what falls due again before the run ends, as on a machine that sleeps', async () => {
    const { plugin, rung, state, alarmsOf } = alarmPlugin();
    await using host = await createTestHost({ plugins: [plugin] });
    await alarmsOf()
      .of('daily')
      .set({ at: host.clock.now() + HOUR, guildId: null, everyMs: HOUR });
    state.afterRing = () => {
      state.afterRing = () => undefined;
      host.clock.advance(HOUR + 5);
    };
    await host.advance(HOUR);
    expect(rung.map(({ lateMs }) => lateMs)).to.deep.equal([0, 5]);
    await host.advance(HOUR);
    expect(rung).to.have.length(3);
  });

  it('makes up for each time that a repeating document has missed', async () => {
    const { plugin, rung, alarmsOf } = alarmPlugin();
    await using host = await createTestHost({ plugins: [plugin] });
    await alarmsOf()
      .of('hourly')
      .set({ at: host.clock.now() - 3 * HOUR, guildId: null, everyMs: HOUR });
    await host.settled();
    expect(rung.map(({ lateMs }) => lateMs / HOUR)).to.deep.equal([3, 2, 1, 0]);
    await host.advance(HOUR);
    expect(rung).to.have.length(5);
  });

  it('runs late what fell due while the bot was down or the plugin was off', async () => {
    const first = alarmPlugin();
    const host = await createTestHost({ plugins: [first.plugin] });
    try {
      const guildId = host.guild.id;
      await first
        .alarmsOf()
        .of('one')
        .set({ at: host.clock.now() + HOUR, guildId });
      await host.resolve(Plugins).disable(guildId, 'alarm');
      await host.advance(2 * HOUR);
      expect(first.rung).to.deep.equal([]);
      await host.stop();
      await host.clock.advance(HOUR);
      const second = alarmPlugin();
      await using again = await createTestHost({ plugins: [second.plugin], world: host, dataDir: host.dataDir });
      await again.advance(60_000);
      expect(second.rung).to.deep.equal([]);
      await again.resolve(Plugins).enable(guildId, 'alarm');
      await again.advance(60_000);
      expect(second.rung).to.deep.equal([{ key: 'one', lateMs: 2 * HOUR + 120_000, attempt: 1 }]);
    } finally {
      await host[Symbol.asyncDispose]();
    }
  });

  it('runs, of a collection that all hosts of a cluster know, what belongs to its servers; the first one what belongs to none', async () => {
    const before = alarmPlugin();
    await using first = await createTestHost({ plugins: [before.plugin] });
    await first.stop();
    const own = ShardClientUtil.shardIdForGuildId(first.guild.id, 2);
    for (const group of [0, 1]) {
      const { plugin, rung, alarmsOf } = alarmPlugin();
      await using host = await createTestHost({
        plugins: [plugin],
        world: first,
        assignment: aloneInCluster(group, 2),
      });
      const at = host.clock.now() + HOUR;
      await alarmsOf().of('here').set({ at, guildId: host.guild.id });
      await alarmsOf().of('nowhere').set({ at, guildId: null });
      await host.advance(HOUR);
      const expected = [...(group === own ? ['here'] : []), ...(group === 0 ? ['nowhere'] : [])];
      expect(rung.map(({ key }) => key).sort(), `group ${group}`).to.deep.equal(expected);
    }
  });
});
