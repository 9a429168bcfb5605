import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LocalMessage } from '@cinnabar/local-discord';
import { Approvals, PersonalDataStore, ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Harness, labelsOf, openHarness, settledOf, shareHarness, toldTo } from './harness.js';

/** The task of a test. */
let session = { id: 'task-0', name: 'the task “Shopping”' };
const nextTask = () => {
  session = { ...session, id: `task-${Number(session.id.slice('task-'.length)) + 1}` };
};
const labels = ({ components }: LocalMessage) => JSON.stringify(components).match(/(?<="label":")[^"]+/g);

/** The requester opens "Like this", which shows what it would allow. */
async function openChooser({ host, latest }: Harness): Promise<LocalMessage> {
  const { response } = await host.alice.click(latest(), 'Like this, in this task…').answered();
  if (response === undefined) throw new Error('nothing was shown');
  return response;
}

describe('confirmation for a whole task', () => {
  const open = shareHarness();
  beforeEach(nextTask);
  it('offers more than yes and no, and says what it would allow', async () => {
    await using harness = await open();
    await harness.call(harness.host.alice, { what: 'milk' }, { session });
    const card = harness.latest();
    expect(labels(card)).to.deep.equal([
      'Once',
      'For this task',
      'Like this, in this task…',
      'Deny',
      'Deny with a reason…',
    ]);
    expect(card.content).to.contain('Part of the task “Shopping”.');
    expect(card.content).to.contain('allows every later call of errand in it, with any arguments');
    expect(card.reactions.map(({ emoji }) => emoji.name)).to.deep.equal(['👍', '👎']);
  });

  it('asks again after Once, whether clicked or reacted', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' }, { session });
    alice.click(harness.latest(), 'Once');
    await settled();
    await harness.call(alice, { what: 'milk' }, { session });
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.have.length(2);
    expect(await harness.call(alice, { what: 'milk' }, { session })).to.have.property('status', 'deferred');
  });

  it('lets any later call of the tool through after “For this task”, without a card', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' }, { session });
    const card = harness.latest();
    alice.click(card, 'For this task');
    await settled();
    expect(card.components.map(labelsOf)).to.deep.equal([['Confirmation']]);
    const said = harness.said().length;
    expect(await harness.call(alice, { what: 'bread' }, { session })).to.include({
      status: 'done',
      text: '✓ Did bread.',
    });
    expect(harness.said()).to.have.length(said);
    expect(harness.runs).to.deep.equal([{ what: 'milk' }, { what: 'bread' }]);
  });

  it('holds for that tool, that task, that member, that origin and that server alone', async () => {
    await using harness = await open();
    const { alice, bob, bot, settled } = harness.host;
    await harness.call(alice, { what: 'milk' }, { session });
    alice.click(harness.latest(), 'For this task');
    await settled();
    const others = [
      harness.call(alice, { what: 'milk' }),
      harness.call(alice, { what: 'milk' }, { session: { id: 'another', name: 'another' } }),
      harness.call(alice, { what: 'milk' }, { session, tool: 'wipe' }),
      harness.call(bob, { what: 'milk' }, { session }),
      harness.call(alice, { what: 'milk' }, { session, origin: 'elsewhere' }),
      harness.call(alice, { what: 'milk' }, { session, channel: alice.openDm(bot) }),
    ];
    for (const outcome of await Promise.all(others)) expect(outcome).to.have.property('status', 'deferred');
    expect(harness.runs).to.have.length(1);
  });

  it('cannot be allowed by another member, by none of its buttons', async () => {
    await using harness = await open();
    const { alice, bob, you, settled } = harness.host;
    const outcome = await harness.call(alice, { what: 'milk' }, { session });
    const card = harness.latest();
    for (const label of labels(card) ?? []) {
      for (const stranger of [bob, you]) {
        const { response, modal } = await stranger.click(card, label).answered();
        expect(response?.content).to.equal('Only the member who asked for this can decide it.');
        expect(modal).to.equal(undefined);
      }
    }
    await settled();
    expect(harness.runs).to.deep.equal([]);
    expect(outcome).to.have.property('status', 'deferred');
    expect(await harness.host.resolve(Approvals).list(session.id)).to.deep.equal([]);
  });

  it('is refused to a call whose asker may no longer do it', async () => {
    await using harness = await open();
    const { alice, guild, settled } = harness.host;
    await harness.call(alice, { what: 'milk' }, { session });
    alice.click(harness.latest(), 'For this task');
    await settled();
    await harness.host.resolve(ToolPolicies).set(guild.id, 'errand', 'deny');
    expect(await harness.call(alice, { what: 'bread' }, { session })).to.have.property('status', 'denied');
    expect(harness.runs).to.have.length(1);
  });
});

describe('confirmation of calls like one', () => {
  const open = shareHarness();
  beforeEach(nextTask);
  it('shows what it allows, and allows that: everything the same but long texts', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const what = `Dear all,\n${'milk '.repeat(20)}`;
    await harness.call(alice, { what, dry_run: true }, { session });
    const screen = await openChooser(harness);
    expect(screen.visibleTo).to.equal(alice);
    expect(screen.content).to.contain('> errand where what is any text and dry\\_run is true');
    alice.click(screen, 'Allow exactly this');
    await settled();
    expect(harness.runs).to.have.length(1);
    expect(screen.content).to.match(/^✅ For the rest of this task: errand where what is any text/);
    expect(await harness.call(alice, { what: 'bread', dry_run: true }, { session })).to.have.property('status', 'done');
    for (const other of [
      { what: 'bread', dry_run: false },
      { what: 'bread' },
      { what, dry_run: true, confirmed: true },
    ])
      expect(await harness.call(alice, other, { session })).to.have.property('status', 'deferred');
  });

  it('lets the member say which arguments have to stay the same', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk', dry_run: true }, { session });
    const screen = await openChooser(harness);
    expect(screen.content).to.contain('> errand where what is "milk" and dry\\_run is true');
    await alice.select(screen, undefined, ['what']).answered();
    await settled();
    expect(screen.content).to.contain('> errand where dry\\_run is any truth value and what is "milk"');
    alice.click(screen, 'Allow exactly this');
    await settled();
    expect(await harness.call(alice, { what: 'milk', dry_run: false }, { session })).to.have.property('status', 'done');
    expect(await harness.call(alice, { what: 'bread', dry_run: true }, { session })).to.have.property(
      'status',
      'deferred',
    );
  });

  it('allows what the clicked screen shows, not what a later one does', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' }, { session });
    const strict = await openChooser(harness);
    const loose = await openChooser(harness);
    await alice.select(loose, undefined, []).answered();
    alice.click(strict, 'Allow exactly this');
    await settled();
    const [allowed] = await harness.host.resolve(Approvals).list(session.id);
    expect(allowed?.pattern).to.equal('errand where what is "milk"');
    alice.click(loose, 'Allow exactly this');
    await settled();
    expect(await harness.host.resolve(Approvals).list(session.id)).to.have.length(1);
  });

  it('cannot allow what there is no room to show', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const long = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`${'n'.repeat(90)}${index}`, 'x']));
    await harness.call(alice, long, { session, tool: 'fill' });
    const screen = await openChooser(harness);
    expect(screen.content).to.contain('> fill where every argument is exactly as on the card');
    await alice.select(screen, undefined, []).answered();
    await settled();
    expect(screen.content).to.match(/^That is more than I can show/);
    expect(labels(screen)).to.not.include('Allow exactly this');
    expect(await harness.host.resolve(Approvals).list(session.id)).to.deep.equal([]);
  });

  it('of a destructive tool is for the very same arguments, and nothing beyond that is offered', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const what = 'everything '.repeat(20);
    await harness.call(alice, { what }, { session, tool: 'wipe' });
    expect(labels(harness.latest())).to.not.include('For this task');
    const screen = await openChooser(harness);
    expect(labels(screen)).to.deep.equal(['Allow exactly this']);
    alice.click(screen, 'Allow exactly this');
    await settled();
    expect(await harness.call(alice, { what }, { session, tool: 'wipe' })).to.have.property('status', 'done');
    const other = await harness.call(alice, { what: 'everything else' }, { session, tool: 'wipe' });
    expect(other).to.have.property('status', 'deferred');
  });
});

describe('approvals for a whole task, as a guild permits them', () => {
  const open = shareHarness();
  beforeEach(nextTask);
  it('is nothing where the admins have said that a tool has to be confirmed, unless they say `always`', async () => {
    await using harness = await open();
    const { alice, guild, settled } = harness.host;
    await harness.host.resolve(ToolPolicies).set(guild.id, 'errand', 'confirm');
    await harness.call(alice, { what: 'milk' }, { session });
    expect(labels(harness.latest())).to.deep.equal(['Once', 'Deny', 'Deny with a reason…']);
    await harness.configure('sessionApprovals', 'always');
    await harness.call(alice, { what: 'milk' }, { session });
    alice.click(harness.latest(), 'For this task');
    await settled();
    expect(await harness.call(alice, { what: 'bread' }, { session })).to.have.property('status', 'done');
    await harness.configure('sessionApprovals', 'by-risk');
    expect(await harness.call(alice, { what: 'bread' }, { session })).to.have.property('status', 'deferred');
  });

  it('holds at once for what was allowed before', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' }, { session });
    alice.click(harness.latest(), 'For this task');
    await settled();
    for (const value of ['like-this', 'never']) {
      await harness.configure('sessionApprovals', value);
      expect(await harness.call(alice, { what: 'milk' }, { session }), value).to.have.property('status', 'deferred');
    }
    expect(labels(harness.latest())).to.deep.equal(['Once', 'Deny', 'Deny with a reason…']);
  });
});

describe('an approval for a whole task', () => {
  const open = shareHarness();
  beforeEach(nextTask);
  const allowed = async (harness: Harness) => {
    await harness.call(harness.host.alice, { what: 'milk' }, { session });
    harness.host.alice.click(harness.latest(), 'For this task');
    await harness.host.settled();
  };

  it('is listed in words, with who allowed it and when', async () => {
    await using harness = await open();
    const at = harness.host.clock.now();
    await allowed(harness);
    const [approval, ...others] = await harness.host.resolve(Approvals).list(session.id);
    expect(others).to.deep.equal([]);
    expect(approval).to.deep.include({
      tool: 'errand',
      pattern: 'errand with any arguments',
      byUserId: harness.host.alice.id,
    });
    expect(approval?.at).to.be.at.least(at);
  });

  it('can be taken back, one or all', async () => {
    await using harness = await open();
    const { alice } = harness.host;
    const approvals = harness.host.resolve(Approvals);
    await allowed(harness);
    const [first] = await approvals.list(session.id);
    expect(await approvals.revoke(session.id, 'unknown')).to.equal(false);
    expect(await approvals.revoke('other', first?.id ?? '')).to.equal(false);
    expect(await approvals.revoke(session.id, first?.id ?? '')).to.equal(true);
    expect(await harness.call(alice, { what: 'bread' }, { session })).to.have.property('status', 'deferred');
    await allowed(harness);
    await approvals.end(session.id);
    await approvals.end(session.id);
    expect(await approvals.list(session.id)).to.deep.equal([]);
    expect(await harness.call(alice, { what: 'bread' }, { session })).to.have.property('status', 'deferred');
  });

  it('is not kept for a task that is stopped while it is being allowed', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const approvals = harness.host.resolve(Approvals);
    for (let moment = 0; moment < 12; moment++) {
      const task = { id: `stopped-${moment}`, name: 'a task' };
      const stopping = new AbortController();
      await harness.call(alice, { what: 'milk' }, { session: task, signal: stopping.signal });
      alice.click(harness.latest(), 'For this task');
      for (let turn = 0; turn < moment; turn++) await nextTurn();
      stopping.abort();
      await approvals.end(task.id);
      await settled();
      expect(await approvals.list(task.id), `after ${moment} turns`).to.deep.equal([]);
    }
  });

  it('survives a restart', async () => {
    await using before = await openHarness();
    await allowed(before);
    await before.host.stop();
    await using after = await openHarness({ world: before.host, dataDir: before.host.dataDir });
    expect(await after.call(after.host.alice, { what: 'bread' }, { session })).to.have.property('status', 'done');
  });

  it('is exported and deleted with the member’s data', async () => {
    await using harness = await open();
    const { alice, bob } = harness.host;
    await allowed(harness);
    const store = harness.host.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(alice.id))).to.contain(session.id);
    expect(JSON.stringify(await store.export(bob.id))).to.not.contain(session.id);
    await store.forget(bob.id);
    expect(await harness.host.resolve(Approvals).list(session.id)).to.have.length(1);
    await store.forget(alice.id);
    expect(await harness.host.resolve(Approvals).list(session.id)).to.deep.equal([]);
  });

  it('is deleted after a month without the end of the task', async () => {
    await using harness = await open();
    await allowed(harness);
    for (let day = 0; day < 31; day++) await harness.host.advance(24 * 3_600_000);
    expect(await harness.host.resolve(Approvals).list(session.id)).to.deep.equal([]);
  });
});

describe('a denial with a reason', () => {
  const open = shareHarness();
  beforeEach(nextTask);
  it('is told to the model, also without a task, where there are buttons', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.configure('controls', 'both');
    for (const more of [{}, { session }]) {
      const outcome = await harness.call(alice, { what: 'milk' }, more);
      const card = harness.latest();
      const shown = await alice.click(card, 'Deny with a reason…').answered();
      expect(shown.modal?.title).to.equal('Deny with a reason');
      expect(harness.runs).to.deep.equal([]);
      alice.submit(shown, { reason: 'We have **enough**.' });
      await settled();
      expect(await settledOf(outcome)).to.deep.include({
        status: 'denied',
        reason: 'the member denied it, so it was not run. Their reason: “We have **enough**.”',
      });
      expect(harness.latest().content).to.equal(toldTo(alice, 'Cancelled milk. (We have \\*\\*enough\\*\\*.)'));
      expect(card.components.map(labelsOf)).to.deep.equal([['Confirmation']]);
    }
    expect(harness.runs).to.deep.equal([]);
  });

  it('comes too late when it was decided while the reason was written', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' }, { session });
    const card = harness.latest();
    const shown = await alice.click(card, 'Deny with a reason…').answered();
    alice.react(card, '👍');
    await settled();
    const { response } = await alice.submit(shown, { reason: 'No.' }).answered();
    expect(response?.content).to.equal('This request is not open any more.');
    expect(harness.runs).to.have.length(1);
  });
});
