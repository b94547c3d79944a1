export { ErrorBody } from './error-body.ts';
