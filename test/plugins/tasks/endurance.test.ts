import { callTools, fail, hang, say } from '@cinnabar/local-models';
import { expect } from 'chai';
import { askUser, done, isOver, type Office, openOffice, update, use } from './office.js';

const MINUTE_MS = 60_000;

describe('a task that takes its time', () => {
  let office: Office;

  afterEach(async () => {
    office.llm.release();
    await office[Symbol.asyncDispose]();
  });

  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 0.5) await office.host.advance(MINUTE_MS / 2);
  };
  const outage = (times: number) => Array.from({ length: times }, () => fail(503));

  it('outlives minutes without its model: it says that it waits, and goes on by itself', async () => {
    office = await openOffice({ steps: [use('look', 'one'), ...outage(7), done('Done.')] });
    const { host } = office;
    const { id } = await office.give('Look');
    await office.when(id, ({ stepCount }) => stepCount === 1);
    await pass(1);
    expect((await office.tasks.get(id))?.status).to.equal('running');
    expect(office.saying(host.general, 'Look').content).to.include('waiting for the language model');
    const thread = await office.thread(id);
    expect(office.said(thread).filter(({ content }) => content.includes('cannot be reached'))).to.have.length(1);
    await pass(8);
    const { status, ending } = await office.over(id);
    expect([status, ending]).to.deep.equal(['completed', 'Done.']);
  });

  it('gives up on a model that stays away when its own time is over', async () => {
    office = await openOffice({ steps: outage(100) });
    await office.configure('maxMinutes', '10');
    const { id } = await office.give('Look');
    await pass(11);
    const { status, ending } = await office.over(id);
    expect(status).to.equal('completed');
    expect(ending).to.include('10 minutes').and.include('could not be reached');
    expect(office.llm.requests.length).to.be.within(5, 15);
  });

  it('ends after its 30 minutes in the middle of an answer of the model, too', async () => {
    office = await openOffice({ steps: [hang(done('Too late.'))] });
    const { id } = await office.give('Think');
    await office.llm.hanging();
    await pass(29);
    expect((await office.tasks.get(id))?.status).to.equal('thinking');
    await pass(2);
    const { status, ending } = await office.over(id);
    expect([status, office.llm.requests[0]?.signal?.aborted]).to.deep.equal(['completed', true]);
    expect(ending).to.include('30 minutes');
  });

  it('writes a story of ten chapters, a message each', async () => {
    const words = 'one two three four five six seven eight nine ten'.split(' ');
    const chapters = words.map((word) => say(`Chapter ${word}: the ${word} of them rode on.`));
    office = await openOffice({ steps: [...chapters, done('The end.')] });
    const { id } = await office.give('Tell a story in ten chapters');
    expect((await office.over(id)).ending).to.equal('The end.');
  });

  it('polls what it waits for, as long as that changes, and waits in between without using up its minutes', async () => {
    const polls = Array.from({ length: 14 }, () => use('look', 'the build'));
    const rest = callTools([{ name: 'wait', arguments: { minutes: 45, reason: 'the build' } }]);
    let progress = 0;
    office = await openOffice({
      steps: [...polls, rest, use('look', 'the build'), rest, use('look', 'the build'), done('Built.')],
      onDeed() {
        progress += 1;
        return progress < 14 ? `${progress * 7} %` : 'still 98 %';
      },
    });
    const { id } = await office.give('Tell me when the build is over');
    await office.when(id, ({ status }) => status === 'waiting_time');
    await pass(46);
    await office.when(id, ({ stepCount, status }) => stepCount === 17 && status === 'waiting_time');
    await pass(46);
    const { ending, workedMs } = await office.over(id);
    expect(ending).to.equal('Built.');
    expect(workedMs).to.be.below(10 * MINUTE_MS);
  });

  it('does not sleep on when I have something to say', async () => {
    office = await openOffice({
      steps: [callTools([{ name: 'wait', arguments: { minutes: 600, reason: 'the morning' } }]), done('Awake.')],
    });
    const { host } = office;
    const { id } = await office.give('Wait for the morning');
    await office.when(id, ({ status }) => status === 'waiting_time');
    await host.settled();
    host.alice.say(await office.thread(id), 'Wake up!');
    expect((await office.over(id)).ending).to.equal('Awake.');
    expect(JSON.stringify(office.llm.requests[1])).to.include('Wake up!');
  });

  it('ends when it calls the same and gets the same, and when it says the same, again and again', async () => {
    office = await openOffice({ steps: () => use('look', 'the door') });
    const { id } = await office.give('Look at the door');
    const { status, ending } = await office.over(id);
    expect(status).to.equal('error');
    expect(ending).to.include('`look` 12 times in a row');
    expect(JSON.stringify(office.llm.requests.at(-1))).to.include('When you wait for something, call wait');
    await office.configure('maxIdenticalCalls', '50');
    await office[Symbol.asyncDispose]();
    let said = 0;
    office = await openOffice({
      steps: () => {
        said += 1;
        return update(`Still working on it (${said})…`);
      },
    });
    const other = await office.give('Work');
    expect((await office.over(other.id)).ending).to.include('repeated myself');
  });

  it('keeps its question before everything else of the same answer', async () => {
    const together = callTools([
      { name: 'send_note', arguments: { what: 'to everybody' } },
      { name: 'ask_user', arguments: { question: 'Shall I send it?', choices: ['Yes', 'No'] } },
      { name: 'task_complete', arguments: { summary: 'Sent.' } },
    ]);
    office = await openOffice({ steps: [together, done('Not sent.')] });
    const { id } = await office.give('Send a note to everybody, if I want to');
    await office.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await office.tasks.answer(id, 'No', office.actor());
    const { ending } = await office.over(id);
    expect(ending).to.equal('Not sent.');
    expect(office.deeds).to.deep.equal([]);
    const told = JSON.stringify(office.llm.requests[1]);
    expect(told).to.include('The user answered: No').and.include('what they say comes first');
  });

  it('notifies me where my server wants it: a ping in the thread, a direct message, or not at all', async () => {
    office = await openOffice({
      steps: [askUser('Well?'), done('One.'), askUser('Well?'), done('Two.'), askUser('Well?'), done('Three.')],
    });
    const { host } = office;
    const direct = () => office.said(host.alice.openDm(host.application));
    const run = async (prompt: string) => {
      const { id } = await office.give(prompt);
      const thread = await office.thread(id);
      await office.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
      await host.settled();
      const pings = (text: string) => office.saying(thread, text).mentions.users.map((user) => user.id);
      const question = pings('Well?');
      await office.tasks.answer(id, 'Yes', office.actor());
      await office.when(id, isOver);
      await office.over(id);
      return [question, pings('Task complete')];
    };
    expect(await run('Ask me once')).to.deep.equal([[host.alice.id], [host.alice.id]]);
    expect(direct()).to.have.length(0);
    await office.configure('notify', 'dm');
    expect(await run('Ask me twice')).to.deep.equal([[], []]);
    expect(direct().map(({ content }) => /has a question for you|is over/.exec(content)?.[0])).to.deep.equal([
      'has a question for you',
      'is over',
    ]);
    await office.configure('notify', 'none');
    expect(await run('Ask me thrice')).to.deep.equal([[], []]);
    expect(direct()).to.have.length(2);
  });

  it('pings me in the thread after all where my server wants direct messages and I take none', async () => {
    office = await openOffice({ steps: [done('One.')] });
    const { host } = office;
    await office.configure('notify', 'dm');
    host.alice.dmsClosed = true;
    const { id } = await office.give('Do it');
    const thread = await office.thread(id);
    await office.over(id);
    const ping = office.saying(thread, 'is over');
    expect(ping.mentions.users.map((user) => user.id)).to.deep.equal([host.alice.id]);
  });
});
