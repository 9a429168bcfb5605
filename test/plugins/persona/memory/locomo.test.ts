import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { locomoIn } from '../../../bench/memory/locomo.js';
import { makeFolder } from '../../../support/folder.js';

const said = (speaker: string, dia_id: string, text: string) => ({ speaker, dia_id, text });
const CONVERSATION = {
  speaker_a: 'Ann',
  session_1_date_time: '1:56 pm on 8 May, 2023',
  session_1: [said('Ann', 'D1:1', 'Which bike?'), said('Ben', 'D1:2', 'The red one.')],
  session_10_date_time: '12:05 am on 1 June, 2023',
  session_10: [said('Ann', 'D10:1', 'It broke.')],
  session_11_date_time: '12:05 am on 2 June, 2023',
};
const QA = [
  { question: 'Which bike?', evidence: ['D1:2', 'D:10:1'], category: 1, answer: 'red' },
  { question: 'When did it break?', evidence: ['D10:1; D1:1'], category: 2, answer: 1 },
  { question: 'Who?', evidence: [], category: 5 },
];

describe('bench of memory: conversations of LoCoMo', () => {
  it('are read from files with one conversation or a list of them, with their times and evidence', () => {
    using folder = makeFolder();
    writeFileSync(join(folder.path, '1.json'), JSON.stringify({ ...CONVERSATION, qa: QA }));
    writeFileSync(
      join(folder.path, '2.json'),
      JSON.stringify([{ sample_id: 'x', conversation: CONVERSATION, qa: QA }]),
    );
    const [one, other, ...more] = locomoIn(folder.path);
    expect(more).to.deep.equal([]);
    expect(other).to.deep.equal(one);
    const [first, second, third] = one?.utterances ?? [];
    expect([first?.at, second?.at, third?.at]).to.deep.equal([
      Date.UTC(2023, 4, 8, 13, 56),
      Date.UTC(2023, 4, 8, 13, 57),
      Date.UTC(2023, 5, 1, 0, 5),
    ]);
    expect(one?.questions).to.deep.equal([
      { text: 'Which bike?', evidence: [second?.messageId, third?.messageId], isOfTime: false },
      { text: 'When did it break?', evidence: [third?.messageId, first?.messageId], isOfTime: true },
    ]);
  });
});
