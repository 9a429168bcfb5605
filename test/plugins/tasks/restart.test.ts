import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { callTools, type ModelScript } from '@cinnabar/local-models';
import { expect } from 'chai';
import { createMortalDriver } from '../../campaign/confirm/mortal-driver.js';
import { askUser, type Deed, done, openTaskHarness, type TaskHarness, update, use } from './harness.js';

/** A model that continues from the conversation, which contains its steps before the restart. */
function scripted(...steps: ReturnType<typeof use>[]): ModelScript {
  let made = 0;
  return () => {
    const step = steps[made];
    made += 1;
    if (step === undefined) throw new Error('the script is over');
    return step;
  };
}

describe('a task after a restart', () => {
  const disk = { current: createMemoryDriver() };
  let driver = createMortalDriver(disk.current);
  let dataDir: string;
  let deeds: Deed[];
  let harness: TaskHarness;
  let first: TaskHarness['host'];

  const open = async (steps: ModelScript, onDeed: (deed: Deed) => unknown = () => undefined) => {
    harness = await openTaskHarness({ steps, deeds, onDeed, driver, dataDir });
    first = harness.host;
  };
  /** Kills the process: its later writes do not reach the disk. */
  const restart = async (steps: ModelScript, onDeed: (deed: Deed) => unknown = () => undefined) => {
    driver.kill();
    await harness.host.stop();
    driver = createMortalDriver(disk.current);
    harness = await openTaskHarness({ steps, deeds, onDeed, driver, dataDir, world: harness.host });
  };

  beforeEach(async () => {
    disk.current = createMemoryDriver();
    driver = createMortalDriver(disk.current);
    dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-tasks-'));
    deeds = [];
  });
  afterEach(async () => {
    await harness.host.stop();
    await first.discord.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('goes on where it was: what was done is not done again, and the model is told of it', async () => {
    await open(scripted(use('stamp', 'one'), askUser('Shall I go on?')));
    const { id } = await harness.give('Stamp two things');
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await harness.host.settled();
    await restart(scripted(use('stamp', 'two'), done('Two stamps.')));

    const thread = await harness.thread(id);
    harness.host.alice.say(thread, 'Yes, please');
    const { status, stepCount } = await harness.over(id);
    expect([status, stepCount]).to.deep.equal(['completed', 4]);
    expect(deeds.map(({ what }) => what)).to.deep.equal(['one', 'two']);
    expect(JSON.stringify(harness.llm.requests[0])).to.include('stamp did one').and.include('Yes, please');
    expect(harness.said(thread).filter(({ content }) => content.includes('Shall I go on?'))).to.have.length(1);
  });

  it('accepts an answer that was given while no process could handle it', async () => {
    await open(scripted(askUser('Which one?', ['This', 'That'])));
    const { id } = await harness.give('Choose');
    const { channelId } = await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await harness.host.settled();
    // The answer is written, and the process dies before it continues.
    const answered = harness.tasks.answer(id, 'That', { ...harness.actor(), channelId });
    await answered;
    await restart(scripted(done('That one.')));
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
  });

  it('asks anew for an approval whose card went down with the process', async () => {
    await open(scripted(use('send_note', 'a note')));
    const { id } = await harness.give('Send a note');
    const thread = await harness.thread(id);
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await harness.host.settled();
    await restart(scripted(done('Sent.')));
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await harness.host.settled();
    expect(deeds).to.deep.equal([]);
    harness.host.alice.click(harness.saying(thread, 'a note'), 'Once');
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
    expect(deeds.map(({ what }) => what)).to.deep.equal(['a note']);
  });

  it('asks anew for each approval of a step that was not decided, and repeats none that was', async () => {
    const notes = ['one', 'two', 'three'].map((what) => ({ name: 'send_note', arguments: { what } }));
    await open(() => callTools(notes));
    const { id } = await harness.give('Send three notes');
    const thread = await harness.thread(id);
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await harness.host.settled();
    harness.host.alice.click(harness.saying(thread, 'two'), 'Once');
    await harness.host.settled();
    await restart(scripted(done('Sent.')));
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await harness.host.settled();
    for (const what of ['three', 'one']) harness.host.alice.click(harness.saying(thread, what), 'Once');
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
    expect(deeds.map(({ what }) => what).sort()).to.deep.equal(['one', 'three', 'two']);
  });

  it('sleeps on until the time for which it waited, and still hears what was said to it', async () => {
    await open(() => callTools([{ name: 'wait', arguments: { minutes: 30, reason: 'the build' } }]));
    const { id } = await harness.give('Wait for the build');
    await harness.when(id, ({ status }) => status === 'waiting_time');
    await harness.host.settled();
    await restart(scripted(done('Built.')));
    await harness.when(id, ({ status }) => status === 'waiting_time');
    await harness.host.advance(20 * 60_000);
    expect((await harness.tasks.get(id))?.status).to.equal('waiting_time');
    await harness.host.advance(11 * 60_000);
    expect((await harness.over(id)).ending).to.equal('Built.');
  });

  it('does not repeat a call with an unknown outcome, and tells the model and the people', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    await open(scripted(use('stamp', 'half')), () => {
      begun();
      return held;
    });
    const { id } = await harness.give('Stamp something');
    const thread = await harness.thread(id);
    await running;
    driver.kill();
    release();
    await restart(scripted(done('I could not tell.')));
    const { unknowns } = await harness.over(id);
    expect(deeds.map(({ what }) => what)).to.deep.equal(['half']);
    expect(unknowns).to.have.length(1);
    expect(JSON.stringify(harness.llm.requests[0])).to.include('It is unknown whether stamp has run');
    expect(harness.saying(thread, 'Task complete').content).to.include('It is not known').and.include('stamp');
  });

  it('repeats one that does no more when it is made twice, under the same key', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    await open(scripted(use('ring', 'the bell')), () => {
      begun();
      return held;
    });
    const { id } = await harness.give('Ring the bell');
    await running;
    driver.kill();
    release();
    await restart(scripted(done('It rang.')));
    const { unknowns } = await harness.over(id);
    expect(unknowns).to.deep.equal([]);
    expect(deeds).to.have.length(2);
    expect(deeds[0]?.key).to.equal(deeds[1]?.key);
  });

  it('says nothing twice that it had said when the process died', async () => {
    await open(scripted(update('Half way.'), askUser('Really?')));
    const { id } = await harness.give('Say something');
    const thread = await harness.thread(id);
    // The update reaches Discord, and the process dies before it can record that.
    harness.host.discord.observe((event) => {
      if (event.type === 'messageCreate' && event.message.content.startsWith('Half way.')) driver.kill();
    });
    await harness.host.discord.expectMessage({ channel: thread, content: /Half way/ });
    await harness.host.discord.settled();
    await restart(scripted(done('Said.')));
    await harness.over(id);
    expect(harness.said(thread).filter(({ content }) => content.startsWith('Half way.'))).to.have.length(1);
  });

  it('tells of its end when the process died before it could', async () => {
    await open(scripted(done('All done.')));
    harness.host.discord.observe((event) => {
      if (event.type === 'messageCreate' && event.message.content.includes('Task complete')) driver.kill();
    });
    const { id } = await harness.give('Be done');
    const thread = await harness.thread(id);
    await harness.host.discord.expectMessage({ channel: thread, content: /Task complete/ });
    await harness.host.discord.settled();
    await restart(scripted());
    await harness.over(id);
    expect(harness.said(thread).filter(({ content }) => content.includes('Task complete'))).to.have.length(1);
    expect(harness.saying(harness.host.general, 'Be done').content).to.include('Task complete');
  });
});
