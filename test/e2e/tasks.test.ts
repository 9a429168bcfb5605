import { say } from '@cinnabar/local-models';
import { expect } from 'chai';
import { askUser, done, openTaskHarness, type TaskHarness, update, use } from '../plugins/tasks/harness.js';

describe('a task, from the command to its end', () => {
  let office: TaskHarness;

  afterEach(async () => {
    office.llm.release();
    await office[Symbol.asyncDispose]();
  });

  it('works through twelve steps with two tools, a question, an approval that is denied, and an update', async () => {
    office = await openTaskHarness({
      steps: [
        say('I will look at the shelves first.'),
        use('look', 'shelf A'),
        use('look', 'shelf B', 'Shelf A is fine, now B.'),
        update('Both shelves are seen.'),
        askUser('Which shelf shall I tidy?', ['Shelf A', 'Shelf B']),
        use('look', 'shelf B again'),
        use('send_note', 'tidy shelf B'),
        say('I understand, no note then.'),
        use('look', 'shelf C'),
        use('send_note', 'thank you'),
        use('look', 'the door'),
        done('Shelf B is tidy.'),
      ],
    });
    const { host } = office;
    const { id } = await office.give('Tidy the shelves');
    const thread = await office.thread(id);

    // The question mentions its addressee, the only member who can answer it.
    await office.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await host.settled();
    const question = office.saying(thread, 'Which shelf shall I tidy?');
    expect(question.content).to.include(`<@${host.alice.id}>`);
    const foreign = host.bob.click(question, 'Shelf A');
    await foreign.answered();
    expect(foreign.response?.content).to.include('Only the member who asked for this task can answer');
    host.alice.click(question, 'Shelf B');

    // The first note is denied with a reason for the model; the second is approved.
    await office.when(id, ({ status }) => status === 'waiting_approval');
    await host.settled();
    const card = office.saying(thread, 'tidy shelf B');
    const form = host.alice.click(card, 'Deny with a reason…');
    await form.answered();
    host.alice.submit(form, { 'Why not? The model is told.': 'Nobody reads notes' });
    await office.when(id, ({ status, stepCount }) => status === 'waiting_approval' && stepCount === 10);
    await host.settled();
    host.alice.click(office.saying(thread, 'thank you'), 'Once');

    const { stepCount, ending } = await office.over(id);
    expect(stepCount).to.equal(12);
    expect(ending).to.equal('Shelf B is tidy.');
    expect(office.deeds.map(({ what }) => what)).to.deep.equal([
      'shelf A',
      'shelf B',
      'shelf B again',
      'shelf C',
      'thank you',
      'the door',
    ]);
    const told = JSON.stringify(office.llm.requests);
    expect(told).to.include('The user answered: Shelf B');
    expect(told).to.include('Nobody reads notes');
    office.saying(thread, 'Both shelves are seen.');
    const badge = office.saying(thread, 'Task complete');
    expect(badge.content).to.match(/12 steps · .+ · 180 tokens · \$0\.00/);
    const status = office.saying(host.general, 'Tidy the shelves');
    expect(status.content).to.include('Task complete');
  });

  it('stops in the middle of a tool: at once, and nothing follows but one message', async () => {
    let began = () => {};
    const running = new Promise<void>((resolve) => {
      began = resolve;
    });
    office = await openTaskHarness({
      steps: [use('look', 'shelf A'), use('stamp', 'everything'), done('It should never come to this.')],
      onDeed({ tool }, { signal }) {
        if (tool !== 'stamp') return;
        began();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      },
    });
    const { host } = office;
    const { id } = await office.give('Stamp everything');
    const thread = await office.thread(id);
    await running;
    await host.discord.settled();
    const click = host.alice.click(office.saying(host.general, 'Stamp everything'), 'Stop');
    await click.answered();
    expect(click.response?.content).to.include('Stopped');

    const { status, ending } = await office.over(id);
    expect(status).to.equal('cancelled');
    expect(ending).to.include('Stopped by');
    expect(office.llm.requests).to.have.length(2);
    const last = office.said(thread).at(-1);
    expect(last?.content).to.include('Task stopped');
    expect(last?.content).to.include('Done: `look`');
    expect(last?.content).to.include('Halted: `stamp` (failed)');
    expect(last?.content).to.include('Unknown: nothing');
    expect(office.said(thread).filter(({ content }) => content.includes('Task stopped'))).to.have.length(1);
  });
});
