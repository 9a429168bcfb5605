import { callTools, fail, hang, say } from '@cinnabar/local-models';
import { expect } from 'chai';
import { askUser, done, isOver, type TaskHarness, update, use, useTaskHost } from './harness.js';

const MINUTE_MS = 60_000;

describe('a task that takes its time', () => {
  const open = useTaskHost();
  let harness: TaskHarness;

  afterEach(async () => {
    harness.llm.release();
    await harness[Symbol.asyncDispose]();
  });

  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 0.5) await harness.host.advance(MINUTE_MS / 2);
  };
  const outage = (times: number) => Array.from({ length: times }, () => fail(503));

  it('outlives minutes without its model: it says that it waits, and goes on by itself', async () => {
    harness = await open({ steps: [use('look', 'one'), ...outage(7), done('Done.')] });
    const { host } = harness;
    const { id } = await harness.give('Look');
    await harness.when(id, ({ stepCount }) => stepCount === 1);
    await pass(1);
    expect((await harness.tasks.get(id))?.status).to.equal('running');
    expect(harness.saying(host.general, 'Look').content).to.include('waiting for the language model');
    const thread = await harness.thread(id);
    expect(harness.said(thread).filter(({ content }) => content.includes('cannot be reached'))).to.have.length(1);
    await pass(8);
    const { status, ending } = await harness.over(id);
    expect([status, ending]).to.deep.equal(['completed', 'Done.']);
  });

  it('gives up on a model that stays away when its own time is over', async () => {
    harness = await open({ steps: outage(100) });
    await harness.configure('maxMinutes', '10');
    const { id } = await harness.give('Look');
    await pass(11);
    const { status, ending } = await harness.over(id);
    expect(status).to.equal('completed');
    expect(ending).to.include('10 minutes').and.include('could not be reached');
    expect(harness.llm.requests.length).to.be.within(5, 15);
  });

  it('ends after its 30 minutes in the middle of an answer of the model, too', async () => {
    harness = await open({ steps: [hang(done('Too late.'))] });
    const { id } = await harness.give('Think');
    await harness.llm.hanging();
    await pass(29);
    expect((await harness.tasks.get(id))?.status).to.equal('thinking');
    await pass(2);
    const { status, ending } = await harness.over(id);
    expect([status, harness.llm.requests[0]?.signal?.aborted]).to.deep.equal(['completed', true]);
    expect(ending).to.include('30 minutes');
  });

  it('writes a story of ten chapters, a message each', async () => {
    const words = 'one two three four five six seven eight nine ten'.split(' ');
    const chapters = words.map((word) => say(`Chapter ${word}: the ${word} of them rode on.`));
    harness = await open({ steps: [...chapters, done('The end.')] });
    const { id } = await harness.give('Tell a story in ten chapters');
    expect((await harness.over(id)).ending).to.equal('The end.');
  });

  it('polls what it waits for, as long as that changes, and waits in between without using up its minutes', async () => {
    const polls = Array.from({ length: 14 }, () => use('look', 'the build'));
    const rest = callTools([{ name: 'wait', arguments: { minutes: 45, reason: 'the build' } }]);
    let progress = 0;
    harness = await open({
      steps: [...polls, rest, use('look', 'the build'), rest, use('look', 'the build'), done('Built.')],
      onDeed() {
        progress += 1;
        return progress < 14 ? `${progress * 7} %` : 'still 98 %';
      },
    });
    const { id } = await harness.give('Tell me when the build is over');
    await harness.when(id, ({ status }) => status === 'waiting_time');
    await pass(46);
    await harness.when(id, ({ stepCount, status }) => stepCount === 17 && status === 'waiting_time');
    await pass(46);
    const { ending, workedMs } = await harness.over(id);
    expect(ending).to.equal('Built.');
    expect(workedMs).to.be.below(10 * MINUTE_MS);
  });

  it('does not sleep on when I have something to say', async () => {
    harness = await open({
      steps: [callTools([{ name: 'wait', arguments: { minutes: 600, reason: 'the morning' } }]), done('Awake.')],
    });
    const { host } = harness;
    const { id } = await harness.give('Wait for the morning');
    await harness.when(id, ({ status }) => status === 'waiting_time');
    await host.settled();
    host.alice.say(await harness.thread(id), 'Wake up!');
    expect((await harness.over(id)).ending).to.equal('Awake.');
    expect(JSON.stringify(harness.llm.requests[1])).to.include('Wake up!');
  });

  it('ends when it calls the same and gets the same, and when it says the same, again and again', async () => {
    harness = await open({ steps: () => use('look', 'the door') });
    const { id } = await harness.give('Look at the door');
    const { status, ending } = await harness.over(id);
    expect(status).to.equal('error');
    expect(ending).to.include('`look` 12 times in a row');
    expect(JSON.stringify(harness.llm.requests.at(-1))).to.include('When you wait for something, call wait');
    await harness.configure('maxIdenticalCalls', '50');
    await harness[Symbol.asyncDispose]();
    let said = 0;
    harness = await open({
      steps: () => {
        said += 1;
        return update(`Still working on it (${said})…`);
      },
    });
    const other = await harness.give('Work');
    expect((await harness.over(other.id)).ending).to.include('repeated myself');
  });

  it('keeps its question before everything else of the same answer', async () => {
    const together = callTools([
      { name: 'send_note', arguments: { what: 'to everybody' } },
      { name: 'ask_user', arguments: { question: 'Shall I send it?', choices: ['Yes', 'No'] } },
      { name: 'task_complete', arguments: { summary: 'Sent.' } },
    ]);
    harness = await open({ steps: [together, done('Not sent.')] });
    const { id } = await harness.give('Send a note to everybody, if I want to');
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await harness.tasks.answer(id, 'No', harness.actor());
    const { ending } = await harness.over(id);
    expect(ending).to.equal('Not sent.');
    expect(harness.deeds).to.deep.equal([]);
    const told = JSON.stringify(harness.llm.requests[1]);
    expect(told).to.include('The user answered: No').and.include('what they say comes first');
  });

  it('notifies me where my server wants it: a ping in the thread, a direct message, or not at all', async () => {
    harness = await open({
      steps: [askUser('Well?'), done('One.'), askUser('Well?'), done('Two.'), askUser('Well?'), done('Three.')],
    });
    const { host } = harness;
    const direct = () => harness.said(host.alice.openDm(host.application));
    const run = async (prompt: string) => {
      const { id } = await harness.give(prompt);
      const thread = await harness.thread(id);
      await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
      await host.settled();
      const pings = (text: string) => harness.saying(thread, text).mentions.users.map((user) => user.id);
      const question = pings('Well?');
      await harness.tasks.answer(id, 'Yes', harness.actor());
      await harness.when(id, isOver);
      await harness.over(id);
      return [question, pings('Task complete')];
    };
    expect(await run('Ask me once')).to.deep.equal([[host.alice.id], [host.alice.id]]);
    expect(direct()).to.have.length(0);
    await harness.configure('notify', 'dm');
    expect(await run('Ask me twice')).to.deep.equal([[], []]);
    expect(direct().map(({ content }) => /has a question for you|is over/.exec(content)?.[0])).to.deep.equal([
      'has a question for you',
      'is over',
    ]);
    await harness.configure('notify', 'none');
    expect(await run('Ask me thrice')).to.deep.equal([[], []]);
    expect(direct()).to.have.length(2);
  });

  it('pings me in the thread after all where my server wants direct messages and I take none', async () => {
    harness = await open({ steps: [done('One.')] });
    const { host } = harness;
    await harness.configure('notify', 'dm');
    host.alice.dmsClosed = true;
    const { id } = await harness.give('Do it');
    const thread = await harness.thread(id);
    await harness.over(id);
    const ping = harness.saying(thread, 'is over');
    expect(ping.mentions.users.map((user) => user.id)).to.deep.equal([host.alice.id]);
  });
});
