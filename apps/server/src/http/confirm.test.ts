import { Type } from '@sallyport/contract/schema';
import type { Identity } from '@sallyport/store/actor';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { registerConfirm } from './confirm.ts';
import { registerErrorMapping } from './error-mapping.ts';
import { registerPolicy } from './policy.ts';
import { registerValidation } from './validation.ts';

const USER: Identity = {
  ...{ kind: 'user', id: 1, email: 'a@example.com', role: 'admin', sessionId: 's', token: null, mustEnrolTotp: false },
};

/** A route that takes `confirm_within` and one that does not; both go back at a time of their own, and answer `status`. */
const given = () => {
  const state = { identity: USER as Identity, status: 200 };
  const app = Fastify({ genReqId: () => 'request-1' });
  registerErrorMapping(app, { answerPage: () => false });
  registerValidation(app);
  registerPolicy(app, { identify: async () => state.identity, clientAddress: () => '192.0.2.1', isOpen: false });
  registerConfirm(app);
  const schema = { querystring: Type.Object({ dry: Type.Optional(Type.Boolean()) }) };
  for (const [path, config] of [
    ['/change', { isConfirmable: true }],
    ['/other', {}],
  ] as const) {
    app.put(path, { config: { policy: 'public', ...config }, schema }, async ({ actor, query }, reply) => {
      if (actor.confirm) actor.confirm.revertsAt = '2026-05-02T12:00:10.000Z';
      return reply.code(state.status).send({ within: actor.confirm?.withinMs ?? null, query });
    });
  }
  app.put('/bare', { config: { policy: 'public', isConfirmable: true } }, async ({ query }) => ({ query }));
  const put = async (url: string) => {
    const { statusCode, headers, json } = await app.inject({ method: 'PUT', url });
    return {
      status: statusCode,
      body: json(),
      told: [headers['x-sallyport-confirm'], headers['x-sallyport-reverts-at']],
    };
  };
  return { state, put };
};

const NOT_TOLD = [undefined, undefined];

test('a change that is to be confirmed tells by what and until when', async () => {
  const { put, state } = given();
  expect(await put('/change?confirm_within=10&dry=true')).toEqual({
    ...{ status: 200, body: { within: 10_000, query: { confirm_within: 10, dry: true } } },
    told: ['request-1', '2026-05-02T12:00:10.000Z'],
  });
  expect(await put('/change')).toEqual({ status: 200, body: { within: null, query: {} }, told: NOT_TOLD });
  expect((await put('/bare?confirm_within=600')).body).toEqual({ query: { confirm_within: 600 } });
  // One that came to nothing does not go back.
  state.status = 300;
  expect((await put('/change?confirm_within=10')).told).toEqual(NOT_TOLD);
  state.status = 299;
  expect((await put('/change?confirm_within=10')).told[0]).toBe('request-1');
});

test('a change waits between ten seconds and ten minutes, on routes that may lock out only', async () => {
  const { put } = given();
  for (const within of ['9', '601', '10.5', 'soon', '']) {
    expect(await put(`/change?confirm_within=${within}`), within).toMatchObject({ status: 400, told: NOT_TOLD });
  }
  expect((await put('/change?confirm_within=600')).status).toBe(200);
  expect((await put('/other?confirm_within=10')).status).toBe(400);
  expect((await put('/other?dry=true')).body).toEqual({ within: null, query: { dry: true } });
});

test('who has not signed in could not confirm', async () => {
  const { put, state } = given();
  state.identity = { kind: 'anonymous' };
  expect(await put('/change?confirm_within=10')).toMatchObject({
    ...{ status: 401, told: NOT_TOLD },
    body: { error: 'confirm_within takes a sign-in: nobody could confirm' },
  });
  expect((await put('/change')).status).toBe(200);
});
