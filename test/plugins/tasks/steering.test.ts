import { callTools, hang, say } from '@cinnabar/local-models';
import { Accounts } from '@cinnabar/sdk';
import { expect } from 'chai';
import { askUser, done, isOver, openTaskHarness, type TaskHarness, update, use, useTaskHost } from './harness.js';

describe('steering a task', () => {
  const open = useTaskHost();
  let harness: TaskHarness;

  afterEach(async () => {
    harness.llm.release();
    await harness[Symbol.asyncDispose]();
  });

  const statusOf = (prompt: string) => harness.saying(harness.host.general, prompt);

  it('stops while the model thinks: its request is cancelled, and none follows', async () => {
    harness = await open({ steps: [hang(done('Too late.'))] });
    const { id } = await harness.give('Think for ever');
    await harness.llm.hanging();
    const { alice } = harness.host;
    await alice.click(statusOf('Think for ever'), 'Stop').answered();
    expect(harness.llm.requests[0]?.signal?.aborted).to.equal(true);
    const { status } = await harness.over(id);
    expect(status).to.equal('cancelled');
    expect(harness.llm.requests).to.have.length(1);
  });

  it('takes the request for approval back when it is stopped', async () => {
    harness = await open({ steps: [use('send_note', 'a note')] });
    const { id } = await harness.give('Send a note');
    const thread = await harness.thread(id);
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await harness.host.settled();
    harness.host.alice.say(thread, '!task stop');
    await harness.over(id);
    const card = harness.saying(thread, 'a note');
    expect(card.components).to.have.length(0);
    expect(harness.deeds).to.deep.equal([]);
    expect(harness.saying(thread, 'Task stopped').content).to.include('Halted: `send_note` (not decided)');
  });

  it('asks once for what was allowed for the whole task, until that is taken back', async () => {
    const notes = ['one', 'two', 'three'].map((what) => use('send_note', what));
    harness = await open({
      steps: [...notes.slice(0, 2), askUser('More?'), ...notes.slice(2), done('Sent.')],
    });
    const { host } = harness;
    const { id } = await harness.give('Send notes');
    const thread = await harness.thread(id);
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await host.settled();
    host.alice.click(harness.saying(thread, 'one'), 'For this task');
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    expect(harness.deeds.map(({ what }) => what)).to.deep.equal(['one', 'two']);
    await host.settled();
    host.alice.say(host.general, '!task approvals');
    await host.settled();
    harness.saying(host.general, 'send\\_note');
    host.alice.say(host.general, '!task revoke 1');
    await host.settled();
    harness.saying(host.general, 'Taken back');
    await harness.tasks.answer(id, 'Yes', harness.actor());
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await host.settled();
    host.alice.click(harness.saying(thread, 'three'), 'Deny');
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
    expect(harness.deeds).to.have.length(2);
  });

  it('keeps a receipt of each step', async () => {
    harness = await openTaskHarness({ steps: [use('look', 'one'), done('One.')], plugins: ['accounts'] });
    const { id } = await harness.give('Look');
    const { channelId } = await harness.over(id);
    const receipts = await harness.host.resolve(Accounts).receipts(channelId, 'tasks');
    expect(receipts.map(({ trigger }) => trigger.replace(/task \w+/, 'task'))).to.deep.equal([
      'I worked on the task, step 2',
      'I worked on the task, step 1',
    ]);
  });

  it('lets only trusted members of the server stop, pause or inspect it', async () => {
    harness = await open({ steps: [askUser('Well?')] });
    const { host } = harness;
    const { id } = await harness.give('Ask me');
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await host.settled();
    for (const label of ['Stop', 'Pause', 'Details']) {
      const click = host.bob.click(statusOf('Ask me'), label);
      await click.answered();
      expect(click.response?.content, label).to.include('Only the member who asked for this task can');
    }
    const thread = await harness.thread(id);
    host.bob.say(thread, 'I say yes', { replyTo: harness.saying(thread, 'Well?') });
    await host.settled();
    expect((await harness.tasks.get(id))?.status).to.equal('waiting_user');
    host.you.say(thread, '!task stop');
    const { status, ending } = await harness.over(id);
    expect(status).to.equal('cancelled');
    expect(ending).to.include(host.you.id);
  });

  it('pauses between two steps and goes on where it was', async () => {
    harness = await open({
      steps: [use('look', 'one'), hang(use('look', 'two')), use('look', 'two'), done('Both.')],
    });
    const { host } = harness;
    const { id } = await harness.give('Look twice');
    await harness.llm.hanging();
    await host.alice.click(statusOf('Look twice'), 'Pause').answered();
    await harness.when(id, ({ status }) => status === 'paused');
    await host.advance(5_000);
    expect(statusOf('Look twice').content).to.include('paused');
    expect(harness.llm.requests).to.have.length(2);
    await host.alice.click(statusOf('Look twice'), 'Resume').answered();
    const { status, stepCount } = await harness.over(id);
    expect([status, stepCount]).to.deep.equal(['completed', 3]);
    expect(harness.deeds.map(({ what }) => what)).to.deep.equal(['one', 'two']);
  });

  it('lets a tool end before it pauses', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    harness = await open({
      steps: [use('stamp', 'one'), done('One.')],
      onDeed() {
        begun();
        return held;
      },
    });
    const { id } = await harness.give('Stamp one');
    await running;
    await harness.tasks.pause(id, harness.actor());
    release();
    await harness.when(id, ({ status }) => status === 'paused');
    expect(harness.llm.requests).to.have.length(1);
    await harness.tasks.resume(id, harness.actor());
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
    expect(harness.deeds).to.have.length(1);
  });

  it('does not treat commands as answers, and accepts no answers from other members', async () => {
    harness = await open({ steps: [askUser('Well?'), done('Thanks.')] });
    const { host } = harness;
    const { id } = await harness.give('Ask me');
    const thread = await harness.thread(id);
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await host.settled();
    const question = harness.saying(thread, 'Well?');
    for (let times = 0; times < 12; times++) host.bob.say(thread, 'Me, me!', { replyTo: question });
    host.alice.say(thread, '!tasks');
    await host.settled();
    expect((await harness.tasks.get(id))?.status).to.equal('waiting_user');
    host.alice.say(thread, 'Yes');
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
  });

  it('names itself below what is too long for messages', async () => {
    harness = await open({ steps: [say('Word for word. '.repeat(1_000)), done('Said.')] });
    const { id } = await harness.give('Tell me everything');
    await harness.over(id);
    const said = harness.saying(await harness.thread(id), 'all of it is in the file');
    expect(said.content).to.match(/^This is too long .*\n-# step 1 · task \w+$/);
    expect(said.attachments).to.have.length(1);
  });

  it('takes an answer from the form', async () => {
    harness = await open({ steps: [askUser('What is its name?'), done('Thanks.')] });
    const { host } = harness;
    const { id } = await harness.give('Ask me');
    const thread = await harness.thread(id);
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await host.settled();
    const form = host.alice.click(harness.saying(thread, 'What is its name?'), 'Answer…');
    await form.answered();
    host.alice.submit(form, { Answer: 'V' });
    await harness.over(id);
    expect(JSON.stringify(harness.llm.requests[1])).to.include('The user answered: V');
    expect(harness.saying(thread, 'What is its name?').components).to.have.length(0);
  });

  it('takes an answer by reply, which is no turn for the chat as well', async () => {
    harness = await openTaskHarness({
      steps: [askUser('What is its name?'), done('Thanks.')],
      plugins: ['ai', 'chat'],
    });
    const { host } = harness;
    await harness.configure('threads', 'false');
    const { id } = await harness.give('Ask me');
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await host.settled();
    host.alice.say(host.general, 'It is V', { replyTo: harness.saying(host.general, 'What is its name?') });
    await harness.over(id);
    expect(JSON.stringify(harness.llm.requests[1])).to.include('The user answered: It is V');
    expect(harness.llm.requests).to.have.length(2);
  });

  it('shows its steps behind Details, for who asked alone, and edits its status at most once a second', async () => {
    harness = await openTaskHarness({ steps: [use('look', 'one'), update('One.'), use('look', 'two'), done('Two.')] });
    const { host } = harness;
    const edits = () => host.discord.requests.of('PATCH', '/channels/:channelId/messages/:messageId').length;
    const { id } = await harness.give('Look');
    await harness.when(id, isOver);
    await host.settled();
    expect(edits()).to.equal(1);
    await harness.over(id);
    expect(edits()).to.equal(2);
    const click = host.alice.click(statusOf('Look'), 'Details');
    await click.answered();
    expect(click.response?.ephemeral).to.equal(true);
    expect(click.response?.content).to.include('look did one').and.include('look did two');
  });

  it('tells calls apart that the model gives the same id, and answers one that cannot be read', async () => {
    const look = (what: string) => ({ id: 'same', name: 'look', arguments: { what } });
    const broken = { id: 'same', name: 'look', raw: '{"what": ' };
    harness = await open({ steps: [callTools([look('one'), look('two'), broken]), done('Both.')] });
    const { id } = await harness.give('Look twice');
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
    expect(harness.deeds.map(({ what }) => what)).to.deep.equal(['one', 'two']);
    expect(JSON.stringify(harness.llm.requests[1])).to.include('the arguments could not be read');
  });

  it('is over when the model only says the same: with a reason, not for ever', async () => {
    harness = await open({ steps: () => say('Hmm.') });
    await harness.configure('maxIdleSteps', '3');
    const { id } = await harness.give('Talk');
    const { status, ending, stepCount } = await harness.over(id);
    expect([status, stepCount]).to.deep.equal(['error', 4]);
    expect(ending).to.include('I repeated myself for 3 steps');
  });

  it('ends at its limits, and warns before the money is gone', async () => {
    harness = await openTaskHarness({ steps: (prompt) => use('look', String(prompt.results.length + Math.random())) });
    await harness.configure('maxSteps', '5');
    const { id } = await harness.give('Look for ever');
    const { status, ending, stepCount } = await harness.over(id);
    expect([status, stepCount]).to.deep.equal(['completed', 5]);
    expect(ending).to.equal('I have reached the maximum number of steps. Stopping here.');
    await harness.configure('maxSteps', '50');
    await harness.configure('maxTokens', '1000');
    await harness.configure('warnAt', '0.5');
    await harness.configure('maxSteps', '500');
    await harness.configure('maxIdleSteps', '100');
    harness.llm.push(
      ...Array.from({ length: 100 }, (_, n) => ({
        ...use('look', `it ${n}`),
        usage: { inputTokens: 190, outputTokens: 10 },
      })),
    );
    const next = await harness.give('Spend');
    const spent = await harness.over(next.id);
    expect(spent.tokens).to.equal(1_000);
    expect(spent.ending).to.include('1,000 tokens');
    expect(harness.messages.filter(({ kind }) => kind === 'warning')).to.have.length(1);
  });
});
