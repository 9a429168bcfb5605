import type { Tools } from '@cinnabar/sdk';
import type { ConversationStore } from '../conversation/store.js';
import type { Memories } from '../memory/types.js';
import type { CallLog } from '../running/calls.js';
import { noteHeld, resume } from '../running/held-calls.js';
import type { RunParts } from '../running/parts.js';
import type { PersonaStore } from '../state/store.js';
import type { Action } from './action.js';
import { addDesire } from './add-desire.js';
import { addGoal } from './add-goal.js';
import { addMemory } from './add-memory.js';
import { done } from './done.js';
import { reflect } from './reflect.js';
import { removeDesire } from './remove-desire.js';
import { removeGoal } from './remove-goal.js';
import { removeMemory } from './remove-memory.js';
import { speak } from './speak.js';
import { think } from './think.js';
import { updateAppearance } from './update-appearance.js';
import { updateEnvironment } from './update-environment.js';
import { updateMood } from './update-mood.js';
import { useTool } from './use-tool.js';

export interface OwnParts {
  readonly memories: Memories;
  readonly store: PersonaStore;
  readonly conversations: ConversationStore;
  readonly tools: Tools;
  readonly calls: CallLog;
  /** What a run works with: looked up when a call that had to wait has ended. */
  held(): RunParts;
}

/** Everything a persona can do by itself, in the order in which the planner reads it. */
export function ownActions({ memories, store, conversations, tools, calls, held }: OwnParts): readonly Action[] {
  return [
    think,
    updateMood(store),
    addMemory(memories, store, conversations),
    removeMemory(memories, store),
    updateAppearance(store),
    updateEnvironment(store),
    addGoal(store),
    removeGoal(store),
    addDesire(store),
    removeDesire(store),
    reflect(memories),
    useTool({
      tools,
      onHeld: (run, tool, callId) => noteHeld(run, tool, callId, held()),
      onSettled(run, tool, outcome) {
        const parts = held();
        parts.background.run('thinking about the end of a call', () => resume(run, tool, outcome, parts));
      },
      onCall: ({ sessionId }, tool, outcome) => calls.note(sessionId, tool, outcome),
    }),
    speak,
    done,
  ];
}
