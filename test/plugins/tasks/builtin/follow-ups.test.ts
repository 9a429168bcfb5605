import { PersonalDataStore, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { done, openTaskHarness, type TaskHarness } from '../harness.js';

const MINUTE_MS = 60_000;

describe('a task that is planned for later', () => {
  let harness: TaskHarness;
  afterEach(() => harness[Symbol.asyncDispose]());

  const call = async (name: string, input: Readonly<Record<string, unknown>> = {}, user = harness.host.alice) => {
    const request = { name, arguments: input, actor: harness.actor(user), origin: 'test' };
    const outcome = await harness.host.resolve(Tools).invoke(request);
    await harness.host.settled();
    if (outcome.status !== 'deferred') return outcome;
    const card = harness.host.general.messages.at(-1);
    if (card === undefined) throw new Error('there is no card');
    user.react(card, '👍');
    return outcome.settled;
  };
  const textOf = async (name: string, user = harness.host.alice) => {
    const outcome = await call(name, {}, user);
    return outcome.status === 'done' ? outcome.text : outcome.status;
  };
  const plan = (inMinutes: number, goal: string) => call('schedule_follow_up', { inMinutes, goal });
  const later = async () =>
    (await harness.tasks.list({ guildId: harness.host.guild.id })).map(({ originalPrompt }) => originalPrompt);

  it('waits for its confirmation and its time, then begins with the rights of who planned it', async () => {
    harness = await openTaskHarness({ steps: [done('Reminded.')] });
    expect(await plan(30, 'Remind me of the run')).to.include({ status: 'done' });
    expect(await textOf('list_follow_ups')).to.contain('Remind me of the run');
    await harness.host.advance(29 * MINUTE_MS);
    expect(await later()).to.deep.equal([]);
    await harness.host.advance(2 * MINUTE_MS);
    const [task] = await harness.tasks.list({ userId: harness.host.alice.id });
    expect(task).to.include({ originalPrompt: 'Remind me of the run' });
    expect(task?.actor.userId).to.equal(harness.host.alice.id);
    expect(await textOf('list_follow_ups')).to.equal('Nothing is planned.');
  });

  it('begins once, after a restart in between as well', async () => {
    harness = await openTaskHarness({ steps: [done('Done.')] });
    await plan(10, 'Water the plants');
    const { host } = harness;
    await host.stop();
    host.clock.advance(3 * 60 * MINUTE_MS);
    const { dataDir, clock, discord, application, guild, general, you, alice, bob } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await using again = await openTaskHarness({ steps: [done('Done.')], dataDir, world });
    await again.host.advance(MINUTE_MS);
    await again.host.advance(MINUTE_MS);
    const begun = (await again.tasks.list({ guildId: guild.id })).filter(
      ({ originalPrompt }) => originalPrompt === 'Water the plants',
    );
    expect(begun).to.have.length(1);
  });

  it('belongs to its member: others cannot see or cancel it, and it is deleted with their data', async () => {
    harness = await openTaskHarness();
    await plan(10, 'Secret');
    const { alice, bob } = harness.host;
    const id = /^(\S+):/.exec(await textOf('list_follow_ups'))?.[1] ?? '';
    expect(await textOf('list_follow_ups', bob)).to.equal('Nothing is planned.');
    expect(await call('cancel_follow_up', { id }, bob)).to.include({ status: 'failed' });
    expect(await call('cancel_follow_up', { id }, alice)).to.include({ status: 'done' });
    await plan(10, 'Another');
    await harness.host.resolve(PersonalDataStore).forget(alice.id);
    await harness.host.advance(20 * MINUTE_MS);
    expect(await later()).to.deep.equal([]);
  });

  it('is one of ten at most', async () => {
    harness = await openTaskHarness();
    for (let n = 0; n < 10; n += 1) await plan(100, `Number ${n}`);
    const refused = await plan(100, 'One more');
    expect(refused).to.have.nested.property('error.message').that.contains('10 follow-ups');
  });
});
