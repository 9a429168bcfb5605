import { expect } from 'chai';
import { askUser, done, openTaskHarness, update, use } from './harness.js';

describe('tasks in German', () => {
  it('are begun, shown, questioned, listed and stopped in the language of their member', async () => {
    const steps = [
      update('Ich fange an.'),
      askUser('Welche Farbe?', ['rot', 'blau']),
      use('look', 'an'),
      done('Alles rot.'),
    ];
    await using harness = await openTaskHarness({ plugins: ['admin'], steps: [...steps, use('send_note', 'Fertig')] });
    const { host } = harness;
    const { alice, general } = host;
    const status = () => harness.saying(general, '**Aufgabe').content;
    alice.say(general, '!language me de');
    await host.settled();

    const { id } = await harness.give('Streiche den Zaun');
    const label = id.slice(-5);
    await harness.when(id, ({ status: now }) => now === 'waiting_user');
    await host.advance(1_000);
    await host.settled();
    expect(status()).to.include(`**Aufgabe ${label}** · ❓ wartet auf eine Antwort`);
    const thread = await harness.thread(id);
    expect(harness.saying(thread, 'Ich fange an.').content).to.include(`-# Schritt 1 · Aufgabe ${label}`);
    alice.say(thread, 'einen Moment');
    await host.settled();
    expect(harness.saying(thread, 'Die Frage ist noch offen: rot · blau.').content).to.include('„Antworten…“');
    alice.say(thread, 'rot');
    await harness.over(id);
    expect(harness.saying(thread, '**Aufgabe erledigt**').content).to.include('Alles rot.').and.include('4 Schritte');
    expect(status()).to.include('✅ Aufgabe erledigt').and.include('Token');
    expect(harness.llm.requests[0]?.system, 'prompts stay English').to.include(
      'works on a task for one of the members',
    );

    const next = await harness.give('Noch einen Zaun');
    await harness.when(next.id, ({ status: now }) => now === 'waiting_approval');
    await host.settled();
    expect(harness.saying(await harness.thread(next.id), '🧵').content).to.include('🧵 Teil von dieser Aufgabe.');
    host.you.say(general, `!task stop ${next.id.slice(-5)}`);
    await harness.over(next.id);
    // An admin with English has stopped it.
    expect(harness.saying(general, 'Stopped. What was done follows.')).to.exist;
    expect(harness.saying(await harness.thread(next.id), '**Aufgabe angehalten**').content).to.include(
      `Angehalten von <@${host.you.id}>.`,
    );
    alice.say(general, '!tasks');
    await host.settled();
    expect(harness.saying(general, '🛑 angehalten').content).to.include('✅ erledigt: Streiche den Zaun');
    alice.say(general, '!task stop');
    await host.settled();
    expect(harness.saying(general, 'Du hast hier keine offene Aufgabe.')).to.exist;
  });
});
