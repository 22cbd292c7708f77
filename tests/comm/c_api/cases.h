/* The C interface, rank by rank: each part returns how many checks failed. All ranks run all of them. */
#ifndef FULT_TESTS_COMM_C_API_CASES_H
#define FULT_TESTS_COMM_C_API_CASES_H

int check_messages(void);
int check_requests(void);
int check_subsets(void);
int check_deliveries(void);
int check_one_sided(void);
int check_collectives(void);
int check_wrong_arguments(void);

#endif
