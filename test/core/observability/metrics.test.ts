import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { CinnabarError, definePlugin, type Metrics, Tools, UserError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { readMetrics } from '../../support/monitoring.js';

/** A plugin that publishes metrics, and passes its registrar to the test. */
function gaming(seen: { metrics?: Metrics; queue: number }, version = '1.0.0') {
  return definePlugin({
    manifest: { id: 'dice-games', version, description: 'Plays' },
    setup({ command, tool, metrics }) {
      seen.metrics = metrics;
      const rolls = metrics.counter({ name: 'rolls_total', help: 'Dice that were rolled.', labels: ['sides'] });
      const seconds = metrics.histogram({ name: 'roll_seconds', help: 'How long a roll took.', buckets: [1, 10] });
      metrics.gauge({ name: 'queue_length', help: 'Rolls that wait.', read: () => seen.queue });
      metrics.gauge({
        name: 'broken',
        help: 'Cannot be read.',
        read() {
          throw new Error('boom');
        },
      });
      command({
        name: 'roll',
        description: 'Rolls',
        options: { sides: z.string().default('6') },
        run: async (context, { sides }) => {
          if (sides === '0') throw new UserError('A die has sides.');
          if (sides === 'boom') throw new Error('boom');
          rolls.add({ sides });
          seconds.observe({}, 2);
          await context.reply('done');
        },
      });
      command({ name: 'secret', description: 'Not for all', access: { tier: 'botOwner' }, run: () => undefined });
      tool({
        name: 'roll_die',
        description: 'Rolls a die',
        input: z.object({}),
        risk: 'read',
        run: async () => ({ rolled: 4 }),
      });
    },
  });
}

describe('metrics', () => {
  it('count the events that Discord sends, from the start of the process on', async () => {
    await using host = await createTestHost({ plugins: ['admin'], monitoring: true });
    const events = async () =>
      (await readMetrics(host.monitoringUrl)).value('cinnabar_gateway_events_total', { shard: '0' }) ?? 0;
    const before = await events();
    expect(before).to.be.above(0);
    for (const text of ['one', 'two', 'three']) host.alice.say(host.general, text);
    await host.settled();
    expect(await events()).to.equal(before + 3);
  });

  it('with invalid labels are refused, and leave the name free', async () => {
    const errors: unknown[] = [];
    const plugin = definePlugin({
      manifest: { id: 'hasty', version: '1.0.0', description: 'Declares' },
      setup({ metrics }) {
        try {
          metrics.counter({ name: 'rolls_total', help: 'Rolls.', labels: ['number-of-sides'] });
        } catch (error) {
          errors.push(error instanceof CinnabarError ? error.code : error);
        }
        metrics.counter({ name: 'rolls_total', help: 'Rolls.', labels: ['sides'] }).add({ sides: '6' });
      },
    });
    await using host = await createTestHost({ plugins: [plugin], monitoring: true });
    expect(errors).to.deep.equal(['CINNABAR_NAME_INVALID']);
    expect((await readMetrics(host.monitoringUrl)).value('cinnabar_hasty_rolls_total', { sides: '6' })).to.equal(1);
  });

  it('of a plugin are published under its name, and go with it', async () => {
    const seen = { queue: 3 };
    await using host = await createTestHost({ plugins: [gaming(seen)], monitoring: true });
    host.alice.say(host.general, '!roll 20');
    host.alice.say(host.general, '!roll 20');
    await host.settled();
    const before = await readMetrics(host.monitoringUrl);
    expect(before.value('cinnabar_dice_games_rolls_total', { sides: '20' })).to.equal(2);
    expect(before.value('cinnabar_dice_games_queue_length')).to.equal(3);
    expect(before.text).to.include('cinnabar_dice_games_roll_seconds_bucket{le="10"} 2');

    await host.plugins.unload('dice-games');
    const after = await readMetrics(host.monitoringUrl);
    expect(after.names.filter((name) => name.includes('dice'))).to.deep.equal([]);
    await host.plugins.load('dice-games');
    expect((await readMetrics(host.monitoringUrl)).value('cinnabar_dice_games_queue_length')).to.equal(3);
  });

  it('of commands tell outcome and surface apart', async () => {
    await using host = await createTestHost({ plugins: [gaming({ queue: 0 })], monitoring: true });
    for (const text of ['!roll 6', '!roll 0', '!roll boom', '!secret', 'not for the bot']) {
      host.alice.say(host.general, text);
    }
    host.alice.slash(host.general, 'roll', { sides: '8' });
    await host.settled();
    const metrics = await readMetrics(host.monitoringUrl);
    const uses = (command: string, surface: string, outcome: string) =>
      metrics.value('cinnabar_commands_total', { command, surface, outcome });
    expect(uses('roll', 'prefix', 'done')).to.equal(1);
    expect(uses('roll', 'prefix', 'refused')).to.equal(1);
    expect(uses('roll', 'prefix', 'failed')).to.equal(1);
    expect(uses('roll', 'slash', 'done')).to.equal(1);
    expect(uses('secret', 'prefix', 'denied')).to.equal(1);
  });

  it('of tool calls tell the outcome; a name that there is not becomes no label', async () => {
    await using host = await createTestHost({ plugins: [gaming({ queue: 0 })], monitoring: true });
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    for (const name of ['roll_die', 'made_up_by_a_model']) {
      await host.resolve(Tools).invoke({ name, arguments: {}, actor, origin: 'test' });
    }
    const metrics = await readMetrics(host.monitoringUrl);
    expect(metrics.labels('cinnabar_tool_calls_total')).to.have.deep.members([
      { tool: 'roll_die', outcome: 'done' },
      { tool: 'unknown', outcome: 'failed' },
    ]);
  });

  it("of the gateway and of Discord's REST show connections, limits and failures", async () => {
    await using host = await createTestHost({ plugins: [gaming({ queue: 0 })], monitoring: true });
    host.discord.faults.rest.fail(503, { method: 'POST', times: 1 });
    host.alice.say(host.general, '!roll');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: 'done' });
    host.discord.faults.rest.rateLimit({ retryAfterMs: 5 });
    host.alice.say(host.general, '!roll');
    await host.discord.expectMessage({ author: host.bot, content: 'done' });
    const resumed = new Promise((resolve) => host.client.once('shardResume', resolve));
    host.discord.faults.gateway.dropSockets();
    await resumed;
    const metrics = await readMetrics(host.monitoringUrl);
    expect(metrics.labels('cinnabar_gateway_shard_state')).to.deep.equal([{ shard: '0', state: 'ready' }]);
    expect(metrics.value('cinnabar_gateway_ready')).to.equal(1);
    const event = (name: string) =>
      metrics.value('cinnabar_gateway_connection_events_total', { shard: '0', event: name });
    expect(['identified', 'resumed', 'closed', 'attempted'].map(event)).to.deep.equal([1, 1, 1, 2]);
    const responses = (status: string) =>
      metrics.value('cinnabar_discord_rest_responses_total', { method: 'POST', status });
    expect([responses('503'), responses('429')]).to.deep.equal([1, 1]);
    expect(metrics.value('cinnabar_guilds')).to.equal(1);
    expect(metrics.value('cinnabar_plugins', { state: 'running' })).to.equal(1);
    for (const name of ['nodejs_heap_size_used_bytes', 'process_resident_memory_bytes']) {
      expect(metrics.value(name)).to.be.greaterThan(1_000_000);
    }
    expect(metrics.value('nodejs_eventloop_lag_p99_seconds')).to.be.at.least(0);
  });

  it('never have more series than a few hundred, nor ids of Discord as labels', async () => {
    const seen: { metrics?: Metrics; queue: number } = { queue: 0 };
    await using host = await createTestHost({ plugins: [gaming(seen)], monitoring: true });
    const visits = seen.metrics?.counter({ name: 'visits_total', help: 'Visits.', labels: ['who'] });
    for (let who = 0; who < 1_000; who++) visits?.add({ who: `person ${who}` });
    for (let who = 0; who < 5; who++) visits?.add({ who: host.alice.id });
    const metrics = await readMetrics(host.monitoringUrl);
    expect(metrics.labels('cinnabar_dice_games_visits_total')).to.have.length(201);
    expect(metrics.value('cinnabar_dice_games_visits_total', { who: 'other' })).to.equal(805);
    expect(metrics.text).to.not.include(host.alice.id).and.not.to.include(host.guild.id);
  });

  it('that fail cost neither the others nor the work that is counted, and are logged', async () => {
    using folder = makeFolder();
    const seen: { metrics?: Metrics; queue: number } = { queue: 0 };
    await using host = await createTestHost({
      plugins: [gaming(seen)],
      monitoring: true,
      dataDir: folder.path,
      logFiles: true,
    });
    seen.metrics?.counter({ name: 'negative_total', help: 'Counts down.' }).add({}, -1);
    host.alice.say(host.general, '!roll');
    await host.settled();
    expect((await readMetrics(host.monitoringUrl)).value('cinnabar_dice_games_queue_length')).to.equal(0);
    await host.stop();
    const logs = readdirSync(join(folder.path, 'logs')).filter((name) => name.startsWith('cinnabar-'));
    const entries = logs.flatMap((name) =>
      readFileSync(join(folder.path, 'logs', name), 'utf8')
        .trim()
        .split('\n'),
    );
    const failed = entries
      .filter((entry) => entry.includes('a metric failed'))
      .map((entry) => JSON.parse(entry).metric);
    expect(failed).to.have.members(['cinnabar_dice_games_negative_total', 'cinnabar_dice_games_broken']);
  });

  it('with a bad name, or one that is taken, are refused', async () => {
    const seen: { metrics?: Metrics; queue: number } = { queue: 0 };
    await using _host = await createTestHost({ plugins: [gaming(seen)], monitoring: true });
    const refusals = ['Rolls', 'rolls', 'rolls_total'].map((name) => {
      try {
        seen.metrics?.counter({ name, help: 'Rolls.' });
        return 'taken';
      } catch (error) {
        return error instanceof CinnabarError ? error.code : error;
      }
    });
    expect(refusals).to.deep.equal(['CINNABAR_NAME_INVALID', 'CINNABAR_NAME_INVALID', 'CINNABAR_NAME_TAKEN']);
  });

  it('count nothing while monitoring is off', async () => {
    const seen: { metrics?: Metrics; queue: number } = { queue: 0 };
    await using host = await createTestHost({ plugins: [gaming(seen)] });
    host.alice.say(host.general, '!roll');
    await host.settled();
    expect(host.monitoringUrl).to.equal(undefined);
    expect(host.client.rest.listenerCount('response')).to.equal(0);
    seen.metrics?.counter({ name: 'anything_total', help: 'Anything.' }).add({});
  });
});
