% Products, factorizations and decompositions of matrices, large enough for several threads.
rand("twister", 1:625);
n = 400;
a = rand(n);
b = rand(n);
s = a + a' + n * eye(n);
show = @(name, x) printf("%s: %.17g %.17g %.17g %.17g\n", name, sum(x(:)), sum(abs(x(:))), x(1), x(end));
show("product", a * b);
show("transposed product", a' * b);
show("matrix and vector", a * b(:, 1));
show("complex product", complex(a, b) * complex(b, a));
show("single precision", single(a) * single(b));
[l, u, p] = lu(a);
show("lower", l);
show("upper", u);
show("permutation", p);
show("solution", a \ b);
show("Cholesky", chol(s));
[q, r] = qr(a);
show("orthogonal", q);
show("triangular", r);
show("singular values", svd(a));
[v, d] = eig(s);
show("eigenvectors", v);
show("eigenvalues", diag(d));
show("of a general matrix", sort(abs(eig(a(1:200, 1:200)))));
show("inverse", inv(s));
show("determinant", det(a / 10));
show("transforms", abs(fft2(a)));
for k = 1:200
    m = 40 + mod(k * 37, 160);
    x(k) = sum((a(1:m, 1:m) * b(1:m, 1:m))(:)) + sum(s(1:m, 1:m) \ b(1:m, 1));
end
show("of many sizes", x);
printf("error of the solution is small: %d\n", norm(a * (a \ b) - b) < 1e-8);
