import type { RestExchange } from '@cinnabar/sdk/testing';
import { createOpenApiValidator, type OpenApiValidator } from './validator.js';

/** How many of a test's violations are listed. */
const LISTED = 10;

/** One for the process: compiling its schemas takes longer than using them. */
let validator: OpenApiValidator | undefined;

export interface ExchangeCheck {
  /** Keeps an exchange as it was on the wire; comparing it would hold up the test in which it happens. */
  collect(exchange: unknown): void;
  /** Compares what was collected, and forgets it. Throws when Discord's description does not admit it. */
  assertAdmitted(): void;
}

/** Collects the exchanges of local Discords, and holds them to Discord's description. */
export function createExchangeCheck(): ExchangeCheck {
  let collected: string[] = [];
  return {
    collect(exchange) {
      collected.push(JSON.stringify(exchange));
    },
    assertAdmitted() {
      const exchanges = collected;
      collected = [];
      if (exchanges.length === 0) return;
      validator ??= createOpenApiValidator();
      const { check } = validator;
      const violations = exchanges.flatMap((text) => {
        const exchange: RestExchange = JSON.parse(text);
        return check(exchange);
      });
      if (violations.length === 0) return;
      const lines = violations.map(({ operation, part, problem }) => `${operation}, ${part}: ${problem}`);
      const more = lines.length > LISTED ? [`… and ${lines.length - LISTED} more`] : [];
      throw new Error(["Discord's description does not admit:", ...lines.slice(0, LISTED), ...more].join('\n  '));
    },
  };
}
